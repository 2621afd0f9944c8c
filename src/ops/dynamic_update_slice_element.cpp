#include "ops/element_rules.h"
#include "ops/folding.h"
#include "ops/start_elements.h"

namespace lowtide::engine {
namespace {

Index starts_of(ElementContext& context, const Instruction& instruction) {
  const Dims& extents = instruction.shape.dims;
  const Dims& sizes = instruction.operand(1).shape.dims;
  Index starts;
  for (size_t d = 0; d < extents.size(); ++d) {
    starts.push_back(sizes[d] == extents[d] ? NestBuilder::fixed(0)
                                            : clamped_start(context.nest, start_element(context, instruction, 2, d),
                                                            extents[d], sizes[d]));
  }
  return starts;
}

}  // namespace

void element_dynamic_update_slice(ElementContext& context, const Instruction& instruction, const Index& index,
                                  std::span<NodeId> leaves) {
  NestBuilder& nest = context.nest;
  const Instruction& update = instruction.operand(1);
  const ElementType type = instruction.shape.type;
  const NodeId old = nest.convert(context.element(instruction.operand(0), index), type);
  leaves[0] = old;
  if (element_count(update.shape) == 0) return;
  const Index starts = starts_of(context, instruction);
  NodeId inside = kNoId;
  Index at;
  for (size_t d = 0; d < index.size(); ++d) {
    const int64_t last = update.shape.dims[d] - 1;
    const Affine offset = nest.plus(index[d], nest.times(starts[d], -1));
    if (update.shape.dims[d] != instruction.shape.dims[d]) inside = both(nest, inside, nest.within(offset, 0, last));
    at.push_back(nest.clamp(offset, 0, last));
  }
  const NodeId updated = nest.convert(context.element(update, at), type);
  leaves[0] = inside == kNoId ? updated : nest.select(inside, updated, old);
}

const Dims& stored_box_of_dynamic_update_slice(const Instruction& instruction) {
  return instruction.operand(1).shape.dims;
}

ElementStore store_dynamic_update_slice(ElementContext& context, const Instruction& instruction, const Index& from) {
  NestBuilder& nest = context.nest;
  Index to = starts_of(context, instruction);
  for (size_t d = 0; d < to.size(); ++d) to[d] = nest.plus(to[d], from[d]);
  return {context.buffer_of(instruction, 0), nest.position(to, instruction.shape.dims),
          nest.convert(context.element(instruction.operand(1), from), instruction.shape.type)};
}

bool has_update_dynamic_update_slice(const Instruction& instruction) {
  return instruction.operand(0).shape.type == instruction.shape.type;
}

int updated_operand_of_dynamic_update_slice(const Instruction&, int64_t) { return 0; }

}  // namespace lowtide::engine
