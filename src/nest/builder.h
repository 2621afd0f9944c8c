#pragma once
/// Makes nests. Pure nodes are folded, shared, and placed in the outermost block in which their operands are known, so
/// that what doesn't depend on a loop is computed outside of it.

#include <span>

#include "ir/literal.h"
#include "nest/nest.h"

namespace lowtide {

struct Bounds {
  int64_t least = 0, greatest = 0;  ///< both inclusive
};

class NestBuilder {
 public:
  NestBuilder();
  Nest take();  ///< the finished nest
  const Nest& nest() const { return nest_; }

  int32_t add_buffer(ElementType type, int64_t elements);

  // Scalars. Types are as in HLO; nothing is converted unasked.
  NodeId constant(ElementType type, std::array<uint64_t, 2> bits);  ///< stored bytes of one element
  NodeId constant(const Literal& scalar);
  NodeId number(ElementType type, double value);    ///< rounded to the type; real types and predicates
  NodeId integer(ElementType type, int64_t value);  ///< wrapped to the type; exact for 64-bit integers
  NodeId operation(Opcode opcode, ElementType type, std::span<const NodeId> operands);
  NodeId operation(Opcode opcode, ElementType type, std::initializer_list<NodeId> operands) {
    return operation(opcode, type, std::span(operands.begin(), operands.size()));
  }
  NodeId compare(NodeId a, NodeId b, CompareAttributes how);
  NodeId select(NodeId predicate, NodeId then, NodeId otherwise);
  NodeId convert(NodeId value, ElementType type);  ///< HLO's convert; the value itself where the type is its own
  NodeId reduce_precision(NodeId value, ReducePrecisionAttributes how);
  NodeId fma(NodeId a, NodeId b, NodeId c);
  const Node& node(NodeId id) const { return nest_.nodes[static_cast<size_t>(id)]; }

  // Integers for indices: affine as long as that is possible, simplified by bounds.
  Affine affine(int64_t constant) const { return {constant, {}}; }
  Affine affine(NodeId integer);  ///< any integer type; converted to s64
  Affine plus(const Affine& a, const Affine& b);
  Affine times(const Affine& a, int64_t factor);
  Affine floor_divide(const Affine& a, int64_t divisor);  ///< divisor > 0; of a non-negative value
  Affine remainder(const Affine& a, int64_t divisor);     ///< as above
  Affine clamp(const Affine& a, int64_t least, int64_t greatest);
  Bounds bounds(const Affine& a) const;
  NodeId value_of(const Affine& a);             ///< as an s64 node
  NodeId less(const Affine& a, int64_t limit);  ///< predicate a < limit; a constant where bounds tell
  NodeId within(const Affine& a, int64_t least, int64_t greatest);  ///< least <= a <= greatest
  /// The row-major position of an index in an array of these extents, and back.
  Affine position(const Index& index, const Dims& extents);
  Index index_at(const Affine& position, const Dims& extents);

  /// A load may be shared and hoisted unless this nest writes the buffer through more than its final stores:
  /// then it is `fresh`, and stays where it is made.
  NodeId load(int32_t buffer, const Affine& element, bool fresh = false);
  void store(int32_t buffer, const Affine& element, NodeId value, NodeId guard = kNoId);

  // Loops. begin_* makes its body the current block; end_* appends the loop to the block it was begun in.
  int32_t begin_parallel(int64_t extent);
  void end_parallel(int32_t loop);
  /// neutral: see Loop.
  int32_t begin_reduce(int64_t extent, std::span<const NodeId> initial, std::shared_ptr<const Function> combine,
                       std::span<const NodeId> neutral);
  int32_t begin_sequential(int64_t extent, std::span<const NodeId> initial);
  int32_t begin_while(std::span<const NodeId> initial);                          ///< the current block is its head
  void begin_while_body(int32_t loop, NodeId condition);                         ///< the current block is its body
  std::vector<NodeId> end_carrying(int32_t loop, std::span<const NodeId> next);  ///< the results behind the loop
  Affine index_of(int32_t loop);
  NodeId carried(int32_t loop, int32_t slot) const;

  // Blocks: to make something in an outer block while inner loops are open.
  int32_t current_block() const { return block_; }
  void enter_block(int32_t block) { block_ = block; }
  int32_t block_of(const Index& index) const;  ///< the outermost block in which all its atoms are known

 private:
  Nest nest_;
  int32_t block_ = 0;
  struct Shared;  // what was made before, to be shared
  std::shared_ptr<Shared> shared_;
};

}  // namespace lowtide
