#pragma once
/// Evaluates operations of nests by their definitions.

#include <optional>
#include <span>

#include "nest/builder.h"

namespace lowtide::engine {

/// The value of an operation (kOperation, kFma) on these constants; a FoldOperation. nullopt if the operation has no
/// definition for their types.
std::optional<ElementBits> evaluate(const Node& operation, std::span<const Node* const> operands);

/// The same, prepared for running many times. `types`: the operands' types.
class NodeEvaluator {
 public:
  NodeEvaluator(const Node& operation, std::span<const ElementType> types);
  NodeEvaluator(NodeEvaluator&&) noexcept;
  NodeEvaluator& operator=(NodeEvaluator&&) noexcept;
  ~NodeEvaluator();
  std::optional<ElementBits> run(std::span<const ElementBits> operands) const;

 private:
  struct Prepared;
  std::unique_ptr<Prepared> prepared_;
};

/// The same for arrays of equal extents, element by element.
std::optional<Value> evaluate_all(const Node& operation, std::span<const Value> operands);

}  // namespace lowtide::engine
