#pragma once
/// The grammar that shardings and replica groups share: device lists and meshes of named axes.

#include <string>
#include <vector>

#include "ir/sharding.h"
#include "ops/text_cursor.h"

namespace lowtide::engine {

/// More devices than any machine has: larger numbers in the text are rejected as mistakes.
inline constexpr int64_t kMostDevices = int64_t{1} << 17;

/// Product of extents, each at least 1; nullopt when it exceeds kMostDevices.
std::optional<int64_t> device_product(const Dims& extents);

/// Reads `[2,4]`.
Result<Dims> read_extents(TextCursor& cursor);
/// Reads the text after `<=`: `[4,2]` and optionally `T(1,0)`.
Result<DeviceList> read_iota(TextCursor& cursor);

/// `mesh['x'=4,'y'=2]`: a box of devices with named axes.
struct Mesh {
  struct Axis {
    std::string name;
    int64_t size = 1;
  };
  std::vector<Axis> axes;
  std::optional<DeviceList> devices;  ///< `device_ids=...`; absent: 0, 1, 2, ... in row-major order
};
/// `'x'`, or `'x':(2)4`: the part of size 4 of an axis, with a part of size 2 on its major side.
struct AxisPart {
  size_t axis = 0;
  int64_t before = 1;
  int64_t size = 1;
};

/// Reads what follows the word `mesh`.
Result<Mesh> read_mesh(TextCursor& cursor);
/// Reads `{'x','y':(1)2}`; a `?` (open to propagation) is skipped.
Result<std::vector<AxisPart>> read_axes(TextCursor& cursor, const Mesh& mesh);
enum class NamedAxes { kMajor, kMinor };
/// The mesh's devices as a box whose major or minor dimensions are these parts of axes, in this order.
Result<DeviceList> devices_by(const Mesh& mesh, const std::vector<AxisPart>& named, NamedAxes where);

}  // namespace lowtide::engine
