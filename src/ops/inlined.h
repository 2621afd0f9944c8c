#pragma once
/// A computation inlined into a nest: its instructions become elements; the caller gives its parameters' elements.

#include <functional>
#include <unordered_map>

#include "ops/op_rule.h"

namespace lowtide::engine {

class InlinedElements : public ElementContext {
 public:
  /// Element `index` of leaf `leaf` of a parameter.
  using Parameter = std::function<NodeId(const Instruction& parameter, int64_t leaf, const Index& index)>;

  /// Loops are made in the current block, or further inside. Once `*hopeless` is true no more elements are made: the
  /// result isn't used, and the elements of a deep computation can be very many.
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

/// Can every instruction of the computation be computed element by element? Tuples, parameters and constants can.
bool has_elements(const Computation& computation);
/// The same, and every array is a scalar: reducers, comparators, maps.
bool has_scalar_elements(const Computation& computation);

/// The origin of leaf `leaf` of a value: the instruction that computes it, or a parameter, found through tuple,
/// get-tuple-element, opt-barrier, domain and add-dependency inside one computation.
struct MadeBy {
  const Instruction* instruction = nullptr;
  int64_t leaf = 0;
};
MadeBy made_by(const Instruction& value, int64_t leaf);

/// The leaves of a shape, depth first: their number, and one of them.
int64_t part_count(const Shape& shape);
const Shape& part_shape(const Shape& shape, int64_t leaf);

}  // namespace lowtide::engine
