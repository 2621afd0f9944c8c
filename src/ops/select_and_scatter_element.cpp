#include "ops/element_rules.h"
#include "ops/folding.h"
#include "ops/inlined.h"
#include "ops/window.h"
#include "ops/window_taps.h"

namespace lowtide::engine {
namespace {

const Window& window_of(const Instruction& instruction) { return instruction.as<WindowAttributes>().window; }

/// Are the windows along this dimension single elements, each at its own index?
bool is_pointwise(const Window& window, size_t d) {
  return window.size[d] == 1 && window.stride[d] == 1 && window.pad_low[d] == 0 && window.pad_high[d] == 0 &&
         window.lhs_dilate[d] == 1;
}

/// Is no element in two windows?
bool is_disjoint(const Window& window) {
  for (size_t d = 0; d < window.size.size(); ++d) {
    if (window.stride[d] < dilated(window.size[d], window.rhs_dilate[d])) return false;
  }
  return true;
}

/// The element that a window selects: its row-major offset in the operand, and whether there is one.
struct Selected {
  NodeId place = kNoId, any = kNoId;
};

/// The first element of the window at `position` that `select` prefers to all others.
Selected selected_at(ElementContext& context, const Instruction& instruction, const Index& position) {
  NestBuilder& nest = context.nest;
  const Window& window = window_of(instruction);
  const Instruction& operand = instruction.operand(0);
  const Dims& extents = operand.shape.dims;
  std::vector<NodeId> state{nest.constant(operand.shape.type, {0, 0}), nest.integer(ElementType::kS64, 0),
                            nest.number(ElementType::kPred, 0)};
  std::vector<int32_t> loops;
  Index at;
  NodeId inside = kNoId;
  for (size_t d = 0; d < extents.size(); ++d) {
    Affine k = NestBuilder::fixed(0);
    if (window.size[d] > 1) {
      const int32_t loop = nest.begin_sequential(window.size[d], state);
      loops.push_back(loop);
      for (size_t s = 0; s < state.size(); ++s) state[s] = nest.carried(loop, static_cast<int32_t>(s));
      k = nest.index_of(loop);
    }
    const WindowTap tap = window_tap(nest, window, d, position[d], k, extents[d]);
    inside = both(nest, inside, tap.inside);
    at.push_back(tap.at);
  }
  const NodeId candidate = context.element(operand, at);
  const NodeId arguments[] = {state[0], candidate};
  const NodeId stays = both(nest, state[2], context.call(*instruction.called[0], arguments)[0]);
  NodeId taken = nest.operation(Opcode::kNot, ElementType::kPred, {stays});
  taken = both(nest, taken, inside);
  state[0] = nest.select(taken, candidate, state[0]);
  state[1] = nest.select(taken, nest.value_of(nest.position(at, extents)), state[1]);
  state[2] = nest.operation(Opcode::kOr, ElementType::kPred, {state[2], taken});
  while (!loops.empty()) {
    state = nest.end_carrying(loops.back(), state);
    loops.pop_back();
  }
  return {state[1], state[2]};
}

NodeId scattered(ElementContext& context, const Instruction& instruction, NodeId old, const Index& position) {
  const NodeId arguments[] = {old, context.element(instruction.operand(1), position)};
  return context.call(*instruction.called[1], arguments)[0];
}

}  // namespace

bool has_element_select_and_scatter(const Instruction& instruction) {
  return has_scalar_elements(*instruction.called[0]) && has_scalar_elements(*instruction.called[1]);
}

void element_select_and_scatter(ElementContext& context, const Instruction& instruction, const Index& index,
                                std::span<NodeId> leaves) {
  NestBuilder& nest = context.nest;
  const Window& window = window_of(instruction);
  const Dims& extents = instruction.shape.dims;
  const Dims& positions = instruction.operand(1).shape.dims;
  std::vector<NodeId> sum{context.element(instruction.operand(2), {})};
  leaves[0] = sum[0];
  if (element_count(instruction.operand(1).shape) == 0) return;
  // Along each dimension, the last window that can contain this element is the last that doesn't begin after it.
  std::vector<int32_t> loops;
  Index position;
  NodeId inside = kNoId;
  for (size_t d = 0; d < extents.size(); ++d) {
    const int64_t stride = window.stride[d], reach = dilated(window.size[d], window.rhs_dilate[d]);
    const int64_t most = (reach - 1) / stride + 1;
    const int64_t shift = window.pad_low[d] < 0 ? (-window.pad_low[d] + stride - 1) / stride : 0;
    const Affine place =
        nest.plus(nest.times(index[d], window.lhs_dilate[d]), NestBuilder::fixed(window.pad_low[d] + shift * stride));
    Affine p = nest.plus(nest.floor_divide(place, stride), NestBuilder::fixed(-shift - (most - 1)));
    if (most > 1) {
      const int32_t loop = nest.begin_sequential(most, sum);
      loops.push_back(loop);
      sum[0] = nest.carried(loop, 0);
      p = nest.plus(p, nest.index_of(loop));
    }
    inside = both(nest, inside, nest.within(p, 0, positions[d] - 1));
    position.push_back(nest.clamp(p, 0, positions[d] - 1));
  }
  const Selected selected = selected_at(context, instruction, position);
  const NodeId here = nest.value_of(nest.position(index, extents));
  NodeId hit = nest.compare(selected.place, here, {CompareDirection::kEq, CompareType::kSigned});
  hit = both(nest, both(nest, hit, selected.any), inside);
  sum[0] = nest.select(hit, scattered(context, instruction, sum[0], position), sum[0]);
  while (!loops.empty()) {
    sum = nest.end_carrying(loops.back(), sum);
    loops.pop_back();
  }
  leaves[0] = sum[0];
}

void update_select_and_scatter(ElementContext& context, const Instruction& instruction) {
  NestBuilder& nest = context.nest;
  const Window& window = window_of(instruction);
  const Dims& extents = instruction.shape.dims;
  const Dims& positions = instruction.operand(1).shape.dims;
  const int32_t buffer = context.buffer_of(instruction, 0);
  const NodeId initial = context.element(instruction.operand(2), {});
  std::vector<int32_t> lines, loops;
  Index at(extents.size()), position(extents.size());
  for (size_t d = 0; d < extents.size(); ++d) {
    if (!is_pointwise(window, d)) continue;
    lines.push_back(nest.begin_parallel(extents[d]));
    at[d] = position[d] = nest.index_of(lines.back());
  }
  for (size_t d = 0; d < extents.size(); ++d) {
    if (is_pointwise(window, d)) continue;
    loops.push_back(nest.begin_parallel(extents[d]));
    at[d] = nest.index_of(loops.back());
  }
  nest.store(buffer, nest.position(at, extents), initial);
  for (; !loops.empty(); loops.pop_back()) nest.end_parallel(loops.back());
  if (element_count(instruction.operand(1).shape) > 0) {
    const bool parallel = is_disjoint(window);
    for (size_t d = 0; d < extents.size(); ++d) {
      if (is_pointwise(window, d)) continue;
      loops.push_back(parallel ? nest.begin_parallel(positions[d]) : nest.begin_sequential(positions[d], {}));
      position[d] = nest.index_of(loops.back());
    }
    const Selected selected = selected_at(context, instruction, position);
    const Affine place = nest.clamp(nest.affine(selected.place), 0, element_count(instruction.shape) - 1);
    const NodeId old = nest.load(buffer, place, true);
    nest.store(buffer, place, scattered(context, instruction, old, position), selected.any);
    for (; !loops.empty(); loops.pop_back()) {
      if (parallel) {
        nest.end_parallel(loops.back());
      } else {
        nest.end_carrying(loops.back(), {});
      }
    }
  }
  for (; !lines.empty(); lines.pop_back()) nest.end_parallel(lines.back());
}

}  // namespace lowtide::engine
