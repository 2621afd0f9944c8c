#pragma once
/// MLIR bytecode of StableHLO's portable artifacts (https://openxla.org/stablehlo/bytecode), as
/// `stablehlo.serialize_portable_artifact` of jaxlib writes them and `jax.export` keeps them.

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "ir/module.h"

namespace lowtide::engine {

/// Reads what versions 0.9.0 to 1.18 of VHLO write, by way of the same operations in StableHLO's generic text, so that
/// no operation is described twice. That text is the module's source: places in later faults are those in it. Faults of
/// the bytes themselves name their place as "byte N". The result is not verified (ops/verify.h).
Result<std::unique_ptr<Module>> parse_bytecode(std::string_view bytes, const std::string& name,
                                               const std::string& entry = "", std::shared_ptr<Context> context = {});

/// A portable artifact of VHLO 1.13.0 that parse_bytecode and jaxlib read: the module of print_stablehlo. Operations of
/// chlo stay what they are. Fault::kUnsupported names an operation or attribute that neither has.
Result<std::string> print_bytecode(const Module& module);

bool is_bytecode(std::string_view bytes);

/// What jax.export's `Exported.serialize()` writes: a flatbuffer around bytecode. Only the beginning needs to be there.
bool is_exported(std::string_view bytes);
/// The bytecode in it, which may be cut off.
Result<std::string_view> bytecode_of_exported(std::string_view bytes, const std::string& name);

}  // namespace lowtide::engine
