#pragma once
/// Decides which dimensions of a module's arrays to split, so that reshapes which merge and split them vanish.

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/disjoint_sets.h"
#include "ir/module.h"
#include "ops/split_dimensions.h"

namespace lowtide::engine {

class MergedDimensions {
 public:
  explicit MergedDimensions(const Module& module);

  /// Decides; false: nothing is split.
  bool decide();
  /// What the dimensions of an instruction's array, or of leaf `leaf` of its tuple, are split into.
  SplitDims split_of(const Instruction& i, size_t leaf = 0);
  /// The same for its operands, and for its result or all its results.
  SplitOperation split_operation(const Instruction& i);
  /// Is a dimension of its operands or results split?
  bool is_split(const Instruction& i);
  /// Is it an instruction that is computed with split dimensions, if any of its classes is split? Others read and give
  /// arrays as they were.
  bool follows(const Instruction& i) const { return follows_.contains(&i); }

 private:
  /// How a class may be split, by reshapes at its borders.
  struct Proposal {
    Dims parts;
    int64_t reshapes = 0;  ///< of computed arrays: those of parameters hide nothing from streams
  };

  void number_dimensions(const Module& module);
  bool some_reshape_merges() const;
  bool is_of_loop(const Computation& computation) const;
  bool may_follow(const Instruction& i) const;
  void exclude_borders_of_tuples();
  size_t node(const Instruction& i, size_t leaf, size_t d) const { return first_.at(&i)[leaf] + d; }
  void relate();
  void relate_leaves(const Instruction& a, size_t leaf_a, const Instruction& b, size_t leaf_b);
  void relate_loop(const Instruction& loop);
  void relate_reshape(const Instruction& reshape);
  template <class F>
  void for_each_pair(const Instruction& i, F&& pair) const;
  void propose(const Instruction& reshape);
  void choose();
  bool exclude_what_cannot_follow();
  bool can_follow(const Instruction& i, SplitOperation& split);
  void drop_what_does_not_pay();

  std::vector<const Instruction*> order_;
  std::unordered_map<const Computation*, std::vector<const Instruction*>> callers_;
  std::unordered_map<const Instruction*, std::vector<size_t>> first_;  ///< by leaf: the node of its dimension 0
  size_t nodes_ = 0;
  std::unordered_set<const Instruction*> follows_;
  DisjointSets classes_{0};                                      ///< of corresponding dimensions
  std::unordered_map<size_t, std::vector<Proposal>> proposals_;  ///< by class
  std::unordered_map<size_t, Proposal> chosen_;                  ///< by class
};

}  // namespace lowtide::engine
