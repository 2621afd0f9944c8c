#pragma once
/// Loops that fold elements into accumulators, for reduce, windows and products.

#include <optional>

#include "ops/element.h"

namespace lowtide::engine {

/// The combining operation of a fold.
struct Combine {
  const Computation* computation = nullptr;  ///< takes accumulators, then elements; null: `opcode` on one of each
  Opcode opcode = Opcode::kAdd;
  ElementType type = ElementType::kF32;  ///< of `opcode`
};

/// A loop nest around one combining operation. Loops may be split into lanes if every accumulator is folded separately,
/// by a commutative operation that rounds little (f32, f64, sums of complex numbers of these) or not at all (integers,
/// minimum and maximum of any floats). A sum of small floats is computed in f32 and rounded once, at the end. All other
/// folds run in order, outermost loop first, and round after every step; among them are all computations that aren't
/// known to be associative.
class Folding {
 public:
  Folding(ElementContext& context, Combine combine, std::vector<NodeId> initial);
  /// Opens a loop inside the open ones; returns its index.
  Affine open(int64_t extent);
  /// The innermost body: accumulators = combine(accumulators, elements) if `guard` holds; kNoId: always.
  void fold(std::vector<NodeId> elements, NodeId guard = kNoId);
  /// Closes all loops; returns the accumulators.
  std::vector<NodeId> close();

 private:
  std::vector<NodeId> combined(std::span<const NodeId> elements);

  ElementContext& context_;
  NestBuilder& nest_;
  Combine combine_;
  std::vector<NodeId> accumulators_;
  std::vector<NodeId> neutral_;  ///< neutral elements; empty: the fold runs in order
  std::shared_ptr<const Function> function_;
  std::vector<int32_t> loops_;
  std::optional<ElementType> rounded_to_;  ///< the result type of a sum of small floats
};

/// Is this a single sum of small floats, which is computed in f32?
bool sums_small_floats(const Combine& combine, ElementType type);

/// The commutative operation, associative up to rounding, that alone folds this accumulator with its element; nullopt
/// if the computation doesn't have that form.
std::optional<Opcode> folding_opcode(const Computation& computation, size_t accumulator, size_t accumulators);

/// The conjunction of two predicates; kNoId always holds.
NodeId both(NestBuilder& nest, NodeId a, NodeId b);

}  // namespace lowtide::engine
