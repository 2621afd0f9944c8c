#pragma once
/// Which leaves alias the same bytes: tuples and barriers, views, values that loops pass through unchanged, parameters
/// of branches.

#include <unordered_map>
#include <vector>

#include "analysis/partitioning.h"
#include "base/disjoint_sets.h"
#include "region/work.h"

namespace lowtide::engine {

using ValueId = int32_t;

/// Stored values of a module, numbered. A loop-carried value is one value in the condition, the body and the readers of
/// the loop's result, named by the loop's leaf; likewise a result of a conditional.
class ValueTable {
 public:
  /// sizes: stated_partitioning() of the module.
  ValueTable(const Module& module, const ModuleWork& work, std::shared_ptr<const Partitioning> sizes);

  ValueId of(const LeafRef& leaf);
  ValueId of(const Instruction* instruction, int64_t leaf) {
    return of(LeafRef{instruction, static_cast<int32_t>(leaf)});
  }
  /// A value that is no leaf: a result's final place, scratch.
  ValueId add(const LeafRef& named_after, int64_t bytes, bool in_host = false);

  size_t count() const { return refs_.size(); }
  const LeafRef& ref(ValueId v) const { return refs_[v]; }
  int64_t bytes(ValueId v) const { return bytes_[v]; }
  /// Does it lie in the host's memory (analysis/host_values.h)?
  bool in_host(ValueId v) const { return in_host_[v]; }
  /// Must the program's result leaf end there?
  bool is_result_in_host(const Instruction& root, int64_t leaf) const {
    return sizes_ && sizes_->of(root, static_cast<int32_t>(leaf)).memory_space == kHostMemory;
  }
  /// Does the loop (conditional) pass its leaf through unchanged, so that it needs no carry?
  bool passes(const Instruction& control, int64_t leaf) { return of(&control, leaf) != own(control, leaf); }
  /// The instruction that calls the computation; null for the entry.
  const Instruction* caller(const Computation& c) const;

 private:
  ValueId find(ValueId v) { return static_cast<ValueId>(sets_.find(static_cast<size_t>(v))); }
  /// From now on v is `as`.
  void join(ValueId as, ValueId v) { sets_.join(static_cast<size_t>(as), static_cast<size_t>(v)); }
  ValueId own(const Instruction& i, int64_t leaf);
  void fold_loop(const Instruction& loop);
  void fold_conditional(const Instruction& conditional);

  std::shared_ptr<const Partitioning> sizes_;  ///< null: sizes are those of the shapes, all on the device
  std::vector<LeafRef> refs_;
  std::vector<int64_t> bytes_;
  std::vector<bool> in_host_;
  DisjointSets sets_;                   ///< of values that turned out to be one
  std::vector<int32_t> first_;          ///< by instruction id: its first entry in of_leaf_; kNoId: not asked
  std::vector<ValueId> of_leaf_, own_;  ///< by leaf; kNoId: not asked yet
  std::vector<bool> is_view_;           ///< by instruction id
  std::unordered_map<const Computation*, std::pair<const Instruction*, int32_t>> caller_;
};

/// Leaves of an operand list, flattened: the leaf refs in order, depth first.
std::vector<LeafRef> operand_leaves(const Instruction& instruction);

}  // namespace lowtide::engine
