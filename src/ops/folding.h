#pragma once
/// Loops that fold elements into accumulators: what reduce, windows and products are made of.

#include <optional>

#include "ops/element.h"

namespace lowtide::engine {

/// What a fold combines with.
struct Combine {
  const Computation* computation = nullptr;  ///< of accumulators, then elements; null: `opcode` on one of each
  Opcode opcode = Opcode::kAdd;
  ElementType type = ElementType::kF32;  ///< of `opcode`
};

/// A loop nest around one combination. Loops may be split into lanes where every accumulator is folded by itself with a
/// commutative operation that rounds little (f32, f64) or not at all (integers, minimum and maximum of any floats).
/// A sum of small floats is one of f32 that is rounded once, at the end. All others run in order, outermost loop first,
/// and round after every step; a computation that nobody knows to be associative keeps its order.
class Folding {
 public:
  Folding(ElementContext& context, Combine combine, std::vector<NodeId> initial);
  /// Opens a loop inside those opened before; gives its index.
  Affine open(int64_t extent);
  /// The innermost body: accumulators = combine(accumulators, elements) where `guard` holds; kNoId: everywhere.
  void fold(std::vector<NodeId> elements, NodeId guard = kNoId);
  /// Closes all loops; gives the accumulators.
  std::vector<NodeId> close();

 private:
  std::vector<NodeId> combined(std::span<const NodeId> elements);

  ElementContext& context_;
  NestBuilder& nest_;
  Combine combine_;
  std::vector<NodeId> accumulators_;
  std::vector<NodeId> neutral_;  ///< empty: in order
  std::shared_ptr<const Function> function_;
  std::vector<int32_t> loops_;
  std::optional<ElementType> rounded_to_;  ///< of a sum of small floats
};

/// Is this alone a sum of small floats, which are added as f32?
bool sums_small_floats(const Combine& combine, ElementType type);

/// The operation that folds accumulator k alone, commutative and associative but for rounding; nothing where the
/// computation isn't made of such.
std::optional<Opcode> folding_opcode(const Computation& computation, size_t accumulator, size_t accumulators);

/// Both predicates; kNoId is one that always holds.
NodeId both(NestBuilder& nest, NodeId a, NodeId b);

}  // namespace lowtide::engine
