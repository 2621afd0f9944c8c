#pragma once
/// Sizes on one device: whole for a program of one device or one already partitioned, divided by the shardings before;
/// and in which memory values lie.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/host_values.h"
#include "analysis/leaf_bytes.h"
#include "analysis/leaves.h"
#include "analysis/part_table.h"

namespace lowtide::engine {

/// How the arguments and results of a program are divided over devices, by leaf, depth first: into how many parts each
/// dimension is. A module that is planned for one of several devices says so in its header, as frontend attribute
/// lowtide.parts="8: [4,1],[] -> [4,2]".
struct EntryParts {
  int64_t devices = 1;
  std::vector<Dims> arguments, results;
};
std::string to_string(const EntryParts& parts);
/// Those that the header states; nothing where it states none.
std::optional<EntryParts> stated_parts(const Module& module);

/// Are shapes those of all devices together, so that a partitioner has still to divide them? After the partitioner
/// shardings stay, if at all, on parameters alone. Without partitions in the header XLA divides nothing.
bool has_global_shapes(const Module& module);

/// Are there regions whose shapes are already those of one device (shard_map), between calls that change sides?
bool has_manual_regions(const Module& module);

class Partitioning {
 public:
  /// Bytes of leaf `leaf` of an instruction on one device.
  LeafBytes of(const Instruction& instruction, int32_t leaf) const;
  /// Of an argument or result: what no partitioner goes below. Where its sharding is left open, an even share.
  LeafBytes least(const Instruction& instruction, int32_t leaf) const;
  /// Are shapes those of all devices together?
  bool divides() const { return parts_ != nullptr; }
  /// Is every value on the device, as large as its shape?
  bool is_plain() const { return !divides() && host_values_.none(); }
  int64_t devices() const { return devices_; }
  /// Only arguments have shardings, which a partitioner keeps too: shapes are assumed to be per device.
  bool is_unsure() const { return unsure_; }
  /// How arguments and results are divided: nothing where shapes say it.
  std::optional<EntryParts> entry_parts(const Module& module) const;

 private:
  friend Partitioning find_partitioning(const Module& module, std::vector<std::string>& warnings);
  friend Partitioning stated_partitioning(const Module& module);
  LeafBytes size_of(const Instruction& instruction, int32_t leaf, const Shape& whole) const;
  friend class FindPartitioning;
  std::shared_ptr<const PartTable> parts_;  ///< null: sizes are as shapes say
  HostValues host_values_;
  std::vector<std::pair<int32_t, int32_t>> open_;  ///< instruction id, leaf: arguments and results without a sharding
  int64_t devices_ = 1;
  bool unsure_ = false;
};

/// Decides from the header and the shardings, and says in `warnings` what a reader of the figures must know: that the
/// program is not partitioned yet, or that its shardings contradict its header.
Partitioning find_partitioning(const Module& module, std::vector<std::string>& warnings);

/// The same for a program whose header states how it is divided, or which isn't: what plans go by.
Partitioning stated_partitioning(const Module& module);

/// States the parts of a module that isn't partitioned yet in its header: its plans have the sizes of one device from
/// here on. They can't be run: their shapes are still those of all devices. Returns what find_partitioning() warns of
/// before that.
std::vector<std::string> plan_for_one_device(Module& module);

/// Why such a plan isn't run here.
std::string of_many_devices(int64_t devices);

/// Empty, or why one device alone can't run the module: it is a program of several that talk, or that hold parts.
std::string why_of_many(const Module& module);

}  // namespace lowtide::engine
