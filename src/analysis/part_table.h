#pragma once
/// Into how many parts the dimensions of a module's arrays are sharded, in modules before partitioning: stated
/// shardings are propagated to other arrays whose dimensions correspond.

#include <vector>

#include "analysis/leaves.h"
#include "ir/module.h"

namespace lowtide::engine {

class PartTable {
 public:
  PartTable(const Module& module, int64_t devices);

  /// States the parts of an array. A dimension in one part stays whole, unless `open`: then propagation may divide it.
  void state(const Instruction& instruction, int32_t leaf, const Dims& parts, bool open);
  /// Propagates parts forwards and backwards through all operations, loops and calls, until nothing changes. The first
  /// number to reach a dimension stays; no array gets more parts than there are devices.
  void spread();

  /// The number of parts of each dimension; 0: unknown, 1: whole. Empty if the leaf is no array.
  const Dims& of(const Instruction& instruction, int32_t leaf) const;
  /// Overwrites the number of parts of one dimension.
  void cut(const Instruction& instruction, int32_t leaf, size_t dimension, int64_t parts);
  bool is_known(const Instruction& instruction, int32_t leaf) const;
  /// Is any dimension in more than one part?
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
