#pragma once
/// Builds nests. Pure nodes are folded, shared, and placed in the outermost block in which their operands are
/// available, so that loop invariants are computed outside of the loop.

#include <optional>
#include <span>

#include "ir/literal.h"
#include "nest/nest.h"

namespace lowtide::engine {

struct Bounds {
  int64_t least = 0, greatest = 0;  ///< both inclusive
};

/// One element as it is stored.
using ElementBits = std::array<uint64_t, 2>;

/// The value of an operation on constants, if it is known. ops/evaluate.h has the one by the operations' definitions.
using FoldOperation = std::optional<ElementBits> (*)(const Node& operation, std::span<const Node* const> operands);

/// A place along a parallel loop where a condition that bounds can't decide changes: `index < at` and `index >= at` are
/// better lowered separately.
struct Cut {
  int32_t loop = kNoId;
  int64_t at = 0;
  auto operator<=>(const Cut&) const = default;
};

class NestBuilder {
 public:
  /// Constant integers and predicates are always folded; other constants if `fold` knows the value.
  explicit NestBuilder(FoldOperation fold = nullptr);
  Nest take();  ///< the finished nest, without unused parts
  const Nest& nest() const { return nest_; }

  int32_t add_buffer(ElementType type, int64_t elements);

  // Functions: a builder makes either a nest or a function, which has no loops, loads or stores.
  NodeId argument(ElementType type);  ///< the next one
  Function take_function(std::span<const NodeId> results);

  // Scalars. Types are as in HLO; there are no implicit conversions.
  NodeId constant(ElementType type, ElementBits bits);
  NodeId constant(const Literal& scalar);
  NodeId number(ElementType type, double value);    ///< rounded to the type; real types and predicates
  NodeId integer(ElementType type, int64_t value);  ///< wrapped to the type; exact for 64-bit integers
  NodeId operation(Opcode opcode, ElementType type, std::span<const NodeId> operands);
  NodeId operation(Opcode opcode, ElementType type, std::initializer_list<NodeId> operands) {
    return operation(opcode, type, std::span(operands.begin(), operands.size()));
  }
  NodeId compare(NodeId a, NodeId b, CompareAttributes how);
  NodeId select(NodeId predicate, NodeId then, NodeId otherwise);
  NodeId convert(NodeId value, ElementType type);  ///< HLO's convert; the value itself if it has the type already
  NodeId reduce_precision(NodeId value, ReducePrecisionAttributes how);
  NodeId fma(NodeId a, NodeId b, NodeId c);
  const Node& node(NodeId id) const { return nest_.nodes[id]; }
  bool is_constant(NodeId id) const { return node(id).kind == NodeKind::kConstant; }
  /// The value of a constant integer or predicate.
  std::optional<int64_t> known_integer(NodeId id) const;

  // Integers for indices: affine as long as that is possible, simplified by bounds.
  static Affine fixed(int64_t constant) { return {constant, {}}; }
  Affine affine(NodeId integer);  ///< any integer type; converted to s64
  Affine plus(const Affine& a, const Affine& b);
  Affine times(const Affine& a, int64_t factor);
  Affine floor_divide(const Affine& a, int64_t divisor);  ///< divisor > 0; of a non-negative value
  Affine remainder(const Affine& a, int64_t divisor);     ///< as above
  Affine clamp(const Affine& a, int64_t least, int64_t greatest);
  Bounds bounds(const Affine& a) const;
  NodeId value_of(const Affine& a);             ///< as an s64 node
  NodeId less(const Affine& a, int64_t limit);  ///< predicate a < limit; a constant if bounds decide it
  NodeId within(const Affine& a, int64_t least, int64_t greatest);  ///< least <= a <= greatest
  /// The row-major position of an index in an array of these extents, and back.
  Affine position(const Index& index, const Dims& extents);
  Index index_at(const Affine& position, const Dims& extents);

  /// A load may be shared and hoisted unless this nest writes the buffer through more than its final stores:
  /// then it is `fresh`, and stays at its position.
  NodeId load(int32_t buffer, const Affine& element, bool fresh = false);
  void store(int32_t buffer, const Affine& element, NodeId value, NodeId guard = kNoId);

  // Loops. begin_* makes its body the current block; end_* appends the loop to the block it was begun in, which becomes
  // the current one again. A loop of one iteration inside another is omitted: its body is the enclosing block.
  int32_t begin_parallel(int64_t extent, bool one_by_one = false);
  void end_parallel(int32_t loop);
  /// neutral: see Loop.
  int32_t begin_reduce(int64_t extent, std::span<const NodeId> initial, std::shared_ptr<const Function> combine,
                       std::span<const NodeId> neutral);
  int32_t begin_sequential(int64_t extent, std::span<const NodeId> initial);
  int32_t begin_while(std::span<const NodeId> initial);                          ///< the current block is its head
  void begin_while_body(int32_t loop, NodeId condition);                         ///< the current block is its body
  std::vector<NodeId> end_carrying(int32_t loop, std::span<const NodeId> next);  ///< the results, after the loop
  Affine index_of(int32_t loop);
  NodeId carried(int32_t loop, int32_t slot) const;

  // Blocks: to make something in an outer block while inner loops are open.
  int32_t current_block() const { return block_; }
  void enter_block(int32_t block) { block_ = block; }
  int32_t block_of(const Index& index) const;  ///< the outermost block in which all its atoms are known
  int32_t block_of(const Affine& affine) const;
  /// The deeper of two blocks, one of which lies in the other.
  int32_t inner_block(int32_t a, int32_t b) const;

  /// Conditions that bounds could not decide so far, for parallel loops; ascending, each once.
  std::vector<Cut> cuts() const;
  /// Does any of the cuts follow from a condition on several loops, such as the position of an element in rows?
  bool has_mixed_cuts() const;

 private:
  NodeId make(Node node);                  // or an equal node; sets its block and bounds
  NodeId place(Node node, int32_t block);  // appends it there
  std::optional<Affine> affine_view(NodeId id) const;
  std::optional<NodeId> in_affine_form(Opcode opcode, ElementType type, std::span<const NodeId> operands);
  std::optional<NodeId> folded(const Node& node);
  std::optional<NodeId> simplified(const Node& node);
  std::optional<bool> known_less(const Affine& a, int64_t limit);
  std::optional<bool> known_comparison(const Affine& difference, CompareDirection direction);
  void note_cut(const Affine& a, int64_t limit);
  Bounds bounds_of_operation(const Node& node) const;
  Bounds plain_bounds(const Affine& a) const;
  Bounds bounds_within(const Affine& a, int depth) const;
  struct Quotient {  // floor(of / divisor)
    Affine of;
    int64_t divisor = 1;
  };
  std::optional<Quotient> quotient_of(NodeId atom) const;
  Affine remainder_as_atom(const Affine& a, int64_t divisor);  ///< with the dividend's sign, as in HLO
  int32_t begin(LoopKind kind, int64_t extent, std::span<const NodeId> initial);
  int32_t add_block(int32_t parent, int32_t loop);

  Nest nest_;
  int32_t block_ = 0, arguments_ = 0;
  struct Shared;  // builder_state.h
  std::shared_ptr<Shared> shared_;
};

/// The stored bytes of an integer (wrapped to the type), and the other way round; predicates are 0 and 1.
ElementBits bits_of_integer(ElementType type, int64_t value);
int64_t integer_of_bits(ElementType type, const ElementBits& bits);
/// The range of an integer type or of predicates. For u64 and other types: all of s64, which excludes nothing.
Bounds range_of(ElementType type);

}  // namespace lowtide::engine
