#pragma once
/// A computation made in place: its instructions as elements, its parameters' elements given by the caller.

#include <functional>
#include <unordered_map>

#include "ops/op_rule.h"

namespace lowtide::engine {

class InlinedElements : public ElementContext {
 public:
  /// Element `index` of leaf `leaf` of a parameter.
  using Parameter = std::function<NodeId(const Instruction& parameter, int64_t leaf, const Index& index)>;

  /// Loops are made in the block current now, or further inside. Once `hopeless` says so nothing more is made: nobody
  /// wants the result, and elements of elements can be very many.
  InlinedElements(ElementContext& outer, Parameter parameter, const bool* hopeless = nullptr);

  using ElementContext::element;
  NodeId element(const Instruction& value, int64_t leaf, const Index& index) override;
  std::vector<NodeId> call(const Computation& computation, std::span<const NodeId> arguments) override;
  std::shared_ptr<const Function> function(const Computation& computation) override;
  int32_t buffer_of(const Instruction&, int64_t) override { return kNoId; }

 private:
  struct Made {
    Index index;
    std::vector<NodeId> leaves;
  };
  int32_t block_for(const Index& index) const;

  ElementContext& outer_;
  Parameter parameter_;
  const bool* hopeless_;
  int32_t block_;
  std::unordered_map<const Instruction*, std::vector<Made>> made_;
};

/// Can every instruction of the computation be made by elements? Bundles, parameters and constants count as such.
bool has_elements(const Computation& computation);
/// The same with every array a scalar: reducers, comparators, maps.
bool has_scalar_elements(const Computation& computation);

/// Leaf `leaf` of a bundle's part: follows tuple, get-tuple-element, opt-barrier, domain and add-dependency inside one
/// computation to the instruction that makes it, or to a parameter.
struct MadeBy {
  const Instruction* instruction = nullptr;
  int64_t leaf = 0;
};
MadeBy made_by(const Instruction& value, int64_t leaf);

/// The arrays of a shape, depth first.
int64_t part_count(const Shape& shape);
const Shape& part_shape(const Shape& shape, int64_t leaf);

}  // namespace lowtide::engine
