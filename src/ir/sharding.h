#pragma once
/// How a value is divided over devices, and the groups of devices in a collective.

#include <cstdint>
#include <string>
#include <vector>

#include "ir/shape.h"

namespace lowtide::engine {

/// An assignment of devices to tiles: listed, or `<=[4,2]T(1,0)`: iota reshaped to `reshape`, transposed by
/// `transpose`.
struct DeviceList {
  std::vector<int64_t> listed;       ///< V1: every device in order; empty in the iota form
  Dims reshape;                      ///< V2: `<=[4,2]`
  Dims transpose;                    ///< V2: `T(1,0)`, empty for the identity
  int64_t count() const;             ///< number of devices
  std::vector<int64_t> ids() const;  ///< in tile order
};

enum class ShardingKind : uint8_t { kReplicated, kMaximal, kManual, kUnknown, kUnreduced, kTiled, kTuple };

/// The meaning of a trailing tile dimension that is no data dimension.
enum class SubgroupKind : uint8_t { kReplicated, kManual, kUnreduced };

/// A sharding annotation. `text` is the annotation as written, with braces, for printing.
struct Sharding {
  ShardingKind kind = ShardingKind::kReplicated;
  int64_t device = 0;                   ///< of kMaximal
  Dims tile;                            ///< `devices=[2,1,2]`: parts per data dimension, then the subgroup dimensions
  std::vector<SubgroupKind> subgroups;  ///< one per trailing tile dimension
  DeviceList devices;
  std::vector<Sharding> parts;  ///< of kTuple, flattened leaf order
  std::string text;

  int64_t parts_of(int64_t dimension) const;  ///< the number of parts of a data dimension; 1 unless tiled
  int64_t device_count() const;               ///< devices that this sharding names; 0 if it names none
};

/// Bytes of one device's part: every tiled dimension is divided and rounded up. The whole array unless tiled.
int64_t sharded_bytes(const Shape& array, const Sharding& sharding);

/// Devices of a collective: `{{0,1},{2,3}}`, `[2,4]<=[8]T(1,0)` or `mesh['x'=4] {'x'}`; `text` as written.
struct ReplicaGroups {
  std::vector<std::vector<int64_t>> groups;  ///< empty: all devices in one group, or above 4096
  int64_t group_size = 0;                    ///< 0 if all devices form one group
  std::string text;
};

}  // namespace lowtide::engine
