#pragma once
/// Meshes of devices: Shardy's, and the groups of devices that StableHLO's collectives name by their axes.

#include <string>
#include <string_view>

#include "base/status.h"
#include "text/stablehlo/mlir_values.h"

namespace lowtide::engine {

/// What the module's `sdy.mesh` of this name has between its angles, those included: `<["x"=4, "y"=2]>`. Empty: there
/// is no such mesh.
std::string_view mesh_text(std::string_view name, const MlirModule& module);

/// The groups in `#stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>`, as HLO
/// lists them: devices that differ only along these axes form a group. Too many to list: as HLO names a mesh's axes.
Result<std::string> mesh_groups_text(const MlirAttribute& attribute, const MlirValues& values);

}  // namespace lowtide::engine
