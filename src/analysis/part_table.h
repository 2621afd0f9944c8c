#pragma once
/// Into how many parts the dimensions of a module's arrays are divided, before a partitioner has said so: what is
/// stated of some follows for others, whose dimensions walk in step with theirs.

#include <vector>

#include "analysis/leaves.h"
#include "ir/module.h"

namespace lowtide::engine {

class PartTable {
 public:
  PartTable(const Module& module, int64_t devices);

  /// What is said of an array. A dimension in one part stays whole; unless `open`: then it may be divided further.
  void state(const Instruction& instruction, int32_t leaf, const Dims& parts, bool open);
  /// Forwards and backwards through all operations, loops and calls, as far as it goes. Where two ways meet, the first
  /// to come decides; no array is cut into more parts than there are devices.
  void spread();

  /// Parts of each dimension; 0: unknown, 1: whole. Empty for what is no array.
  const Dims& of(const Instruction& instruction, int32_t leaf) const;
  /// Says otherwise of one dimension.
  void cut(const Instruction& instruction, int32_t leaf, size_t dimension, int64_t parts);
  bool is_known(const Instruction& instruction, int32_t leaf) const;
  /// Is anything in more than one part?
  bool divides() const;

 private:
  struct Place {
    const Instruction* instruction = nullptr;
    int64_t leaf = 0;
  };
  Dims* at(const Place& place);
  bool give(Dims& to, size_t d, int64_t parts);
  void link(const Place& a, size_t da, const Place& b, size_t db, int64_t ratio = 1);
  void link_leaves(const Instruction& a, int64_t from_a, const Instruction& b, int64_t from_b, int64_t count);
  void visit(const Instruction& i);
  void visit_operands(const Instruction& i);
  void visit_reshape(const Instruction& i);
  void visit_call(const Instruction& i);
  void visit_parts(const Instruction& call);

  const Module& module_;
  const int64_t devices_;
  std::vector<std::vector<Dims>> parts_;  ///< by instruction id, by leaf
  bool changed_ = false;
};

}  // namespace lowtide::engine
