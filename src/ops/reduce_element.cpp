#include <algorithm>

#include "ops/element_rules.h"
#include "ops/folding.h"
#include "ops/inlined.h"

namespace lowtide::engine {

bool has_element_reduce(const Instruction& reduce) { return has_scalar_elements(*reduce.called[0]); }

void element_reduce(ElementContext& context, const Instruction& reduce, const Index& index, std::span<NodeId> leaves) {
  NestBuilder& nest = context.nest;
  const size_t inputs = leaves.size();
  const std::vector<Instruction*> parameters = reduce.called[0]->parameters();
  std::vector<NodeId> values;
  for (size_t k = 0; k < inputs; ++k) {
    values.push_back(nest.convert(context.element(reduce.operand(inputs + k), {}), parameters[k]->shape.type));
  }
  Folding folding(context, {.computation = reduce.called[0]}, std::move(values));
  const Dims& extents = reduce.operand(0).shape.dims;
  const Dims& dimensions = reduce.as<DimensionsAttributes>().dimensions;
  Index source;
  size_t kept = 0;
  for (size_t d = 0; d < extents.size(); ++d) {
    const bool folded = std::find(dimensions.begin(), dimensions.end(), static_cast<int64_t>(d)) != dimensions.end();
    source.push_back(folded ? folding.open(extents[d]) : index[kept++]);
  }
  values.clear();
  for (size_t k = 0; k < inputs; ++k) {
    values.push_back(nest.convert(context.element(reduce.operand(k), source), parameters[inputs + k]->shape.type));
  }
  folding.fold(std::move(values));
  values = folding.close();
  for (size_t k = 0; k < inputs; ++k)
    leaves[k] = nest.convert(values[k], part_shape(reduce.shape, static_cast<int64_t>(k)).type);
}

}  // namespace lowtide::engine
