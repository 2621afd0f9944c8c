#include <algorithm>

#include "ops/element_rules.h"
#include "ops/infer.h"
#include "ops/start_elements.h"

namespace lowtide::engine {

void element_gather(ElementContext& context, const Instruction& instruction, const Index& index,
                    std::span<NodeId> leaves) {
  NestBuilder& nest = context.nest;
  const auto& gather = instruction.as<GatherAttributes>();
  const Instruction& operand = instruction.operand(0);
  const Instruction& indices = instruction.operand(1);
  const Dims& extents = operand.shape.dims;
  if (element_count(operand.shape) == 0) {
    leaves[0] = nest.constant(instruction.shape.type, {0, 0});
    return;
  }
  Index batch, at(extents.size(), NestBuilder::fixed(0));
  for (size_t d = 0; d < index.size(); ++d) {
    if (!contains(gather.offset_dims, static_cast<int64_t>(d))) batch.push_back(index[d]);
  }
  size_t next_offset = 0;
  for (size_t d = 0; d < extents.size(); ++d) {
    const auto dim = static_cast<int64_t>(d);
    if (contains(gather.collapsed_slice_dims, dim) || contains(gather.operand_batching_dims, dim)) continue;
    at[d] = index[gather.offset_dims[next_offset++]];
  }
  for (size_t k = 0; k < gather.start_index_map.size(); ++k) {
    const auto d = static_cast<size_t>(gather.start_index_map[k]);
    const int64_t size = std::max<int64_t>(gather.slice_sizes[d], 1);
    if (size == extents[d]) continue;
    const NodeId start = index_vector_element(context, indices, gather.index_vector_dim, batch, k);
    at[d] = nest.plus(at[d], clamped_start(nest, start, extents[d], size));
  }
  for (size_t k = 0; k < gather.operand_batching_dims.size(); ++k) {
    const int64_t along = gather.start_indices_batching_dims[k];
    const auto place = static_cast<size_t>(along < gather.index_vector_dim ? along : along - 1);
    at[gather.operand_batching_dims[k]] = batch[place];
  }
  leaves[0] = nest.convert(context.element(operand, at), instruction.shape.type);
}

}  // namespace lowtide::engine
