#pragma once
/// Sizes on one device: as the shapes say for a program of one device or one already partitioned, divided by the
/// shardings before partitioning; and the memory spaces of values.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/host_values.h"
#include "analysis/leaf_bytes.h"
#include "analysis/leaves.h"
#include "analysis/part_table.h"

namespace lowtide::engine {

/// How the arguments and results of a program are sharded over devices: for each leaf, depth first, the number of parts
/// of each dimension. A module that is planned for one of several devices states it in its header, as the frontend
/// attribute lowtide.parts="8: [4,1],[] -> [4,2]".
struct EntryParts {
  int64_t devices = 1;
  std::vector<Dims> arguments, results;
};
std::string to_string(const EntryParts& parts);
/// The parts that the header states; nullopt if it states none.
std::optional<EntryParts> stated_parts(const Module& module);

/// Are shapes global, so that a partitioner has yet to divide them? After partitioning at most parameters have
/// shardings. Without partitions in the header XLA divides nothing.
bool has_global_shapes(const Module& module);

/// Are there regions with the shapes of one device (shard_map), between calls that convert from and to global shapes?
bool has_manual_regions(const Module& module);

class Partitioning {
 public:
  /// The bytes of leaf `leaf` of an instruction on one device.
  LeafBytes of(const Instruction& instruction, int32_t leaf) const;
  /// A lower bound on an argument's or result's bytes after partitioning. If its sharding is open, an equal share.
  LeafBytes least(const Instruction& instruction, int32_t leaf) const;
  /// Are shapes global?
  bool divides() const { return parts_ != nullptr; }
  /// Is every value in device memory, with the size that its shape says?
  bool is_plain() const { return !divides() && host_values_.none(); }
  int64_t devices() const { return devices_; }
  /// Do only arguments have shardings? A partitioner keeps those, so shapes are assumed to be per device.
  bool is_unsure() const { return unsure_; }
  /// How arguments and results are sharded; nullopt if shapes are already per device.
  std::optional<EntryParts> entry_parts(const Module& module) const;

 private:
  friend Partitioning find_partitioning(const Module& module, std::vector<std::string>& warnings);
  friend Partitioning stated_partitioning(const Module& module);
  LeafBytes size_of(const Instruction& instruction, int32_t leaf, const Shape& whole) const;
  friend class FindPartitioning;
  std::shared_ptr<const PartTable> parts_;  ///< null: sizes follow from shapes alone
  HostValues host_values_;
  std::vector<std::pair<int32_t, int32_t>> open_;  ///< instruction id, leaf: arguments and results without a sharding
  int64_t devices_ = 1;
  bool unsure_ = false;
};

/// Finds the partitioning from the header and the shardings. `warnings` tells readers of the sizes if the program isn't
/// partitioned yet, or its shardings contradict its header.
Partitioning find_partitioning(const Module& module, std::vector<std::string>& warnings);

/// The same for a program whose header states its parts, or else without any partitioning; plans use this one.
Partitioning stated_partitioning(const Module& module);

/// Writes the parts of a module that isn't partitioned yet into its header, so that its plans have the sizes of one
/// device. Such plans can't be run, since their shapes are still global. Returns find_partitioning()'s warnings.
std::vector<std::string> plan_for_one_device(Module& module);

/// The message why such a plan isn't run here.
std::string of_many_devices(int64_t devices);

/// Empty, or why one device can't run the module: it is for several devices that communicate or hold shards.
std::string why_of_many(const Module& module);

}  // namespace lowtide::engine
