#include "ops/element_rules.h"
#include "ops/folding.h"
#include "ops/inlined.h"
#include "ops/window_taps.h"

namespace lowtide::engine {
namespace {

std::vector<NodeId> initial_values(ElementContext& context, const Instruction& reduce, size_t inputs) {
  const std::vector<Instruction*> parameters = reduce.called[0]->parameters();
  std::vector<NodeId> values;
  for (size_t k = 0; k < inputs; ++k) {
    values.push_back(context.nest.convert(context.element(reduce.operand(inputs + k), {}), parameters[k]->shape.type));
  }
  return values;
}

std::vector<NodeId> elements_at(ElementContext& context, const Instruction& reduce, size_t inputs, const Index& at) {
  const std::vector<Instruction*> parameters = reduce.called[0]->parameters();
  std::vector<NodeId> values;
  for (size_t k = 0; k < inputs; ++k) {
    values.push_back(context.nest.convert(context.element(reduce.operand(k), at), parameters[inputs + k]->shape.type));
  }
  return values;
}

NodeId as_result(ElementContext& context, const Instruction& reduce, size_t leaf, NodeId value) {
  return context.nest.convert(value, part_shape(reduce.shape, static_cast<int64_t>(leaf)).type);
}

/// A window that spans one dimension and grows from one end of it: result p folds [0, p] or [p, extent).
struct RunningFold {
  size_t dimension = 0;
  bool forward = true;
};

std::optional<RunningFold> running_fold(const Instruction& reduce) {
  const Window& window = reduce.as<WindowAttributes>().window;
  const Dims& extents = reduce.operand(0).shape.dims;
  std::optional<RunningFold> found;
  for (size_t d = 0; d < extents.size(); ++d) {
    if (window.stride[d] != 1 || window.lhs_dilate[d] != 1 || window.rhs_dilate[d] != 1) return std::nullopt;
    if (window.size[d] == 1 && window.pad_low[d] == 0 && window.pad_high[d] == 0) continue;
    const int64_t growth = window.size[d] - 1;
    const bool forward = window.pad_low[d] == growth && window.pad_high[d] == 0;
    const bool backward = window.pad_high[d] == growth && window.pad_low[d] == 0;
    if (found || window.size[d] != extents[d] || (!forward && !backward)) return std::nullopt;
    found = RunningFold{d, forward};
  }
  return found;
}

/// A fold from the far end visits elements in the opposite order. By definition computations of reduce-window form a
/// monoid with the initial value; those that evidently don't keep XLA's order.
bool is_order_free(const Computation& computation, size_t accumulators) {
  for (size_t k = 0; k < accumulators; ++k) {
    const Instruction& result = *made_by(*computation.root, static_cast<int64_t>(k)).instruction;
    bool of_parameters = true;
    for (const Instruction* operand : result.operands) {
      of_parameters = of_parameters && operand->opcode == Opcode::kParameter;
    }
    if (of_parameters && !folding_opcode(computation, k, accumulators)) return false;
  }
  return true;
}

}  // namespace

bool has_element_reduce_window(const Instruction& reduce) { return has_scalar_elements(*reduce.called[0]); }

void element_reduce_window(ElementContext& context, const Instruction& reduce, const Index& index,
                           std::span<NodeId> leaves) {
  const Window& window = reduce.as<WindowAttributes>().window;
  const Dims& extents = reduce.operand(0).shape.dims;
  const size_t inputs = leaves.size();
  std::vector<NodeId> values = initial_values(context, reduce, inputs);
  if (element_count(reduce.operand(0).shape) > 0) {
    Folding folding(context, {.computation = reduce.called[0]}, std::move(values));
    Index source;
    NodeId inside = kNoId;
    for (size_t d = 0; d < extents.size(); ++d) {
      const Affine k = window.size[d] == 1 ? NestBuilder::fixed(0) : folding.open(window.size[d]);
      const WindowTap tap = window_tap(context.nest, window, d, index[d], k, extents[d]);
      inside = both(context.nest, inside, tap.inside);
      source.push_back(tap.at);
    }
    folding.fold(elements_at(context, reduce, inputs, source), inside);
    values = folding.close();
  }
  for (size_t k = 0; k < inputs; ++k) leaves[k] = as_result(context, reduce, k, values[k]);
}

bool has_update_reduce_window(const Instruction& reduce) {
  const std::optional<RunningFold> fold = running_fold(reduce);
  const size_t inputs = reduce.operands.size() / 2;
  return fold && has_element_reduce_window(reduce) && element_count(reduce.operand(0).shape) > 0 &&
         (fold->forward || is_order_free(*reduce.called[0], inputs));
}

void update_reduce_window(ElementContext& context, const Instruction& reduce) {
  NestBuilder& nest = context.nest;
  const Dims& extents = reduce.operand(0).shape.dims;
  const size_t inputs = reduce.operands.size() / 2;
  const std::optional<RunningFold> fold = running_fold(reduce);
  LT_ASSERT(fold, "an update of " + reduce.name + ", which is no running fold");
  Index at(extents.size());
  std::vector<int32_t> lines;
  for (size_t d = 0; d < extents.size(); ++d) {
    if (d == fold->dimension) continue;
    lines.push_back(nest.begin_parallel(extents[d]));
    at[d] = nest.index_of(lines.back());
  }
  const int64_t extent = extents[fold->dimension];
  std::vector<NodeId> initial = initial_values(context, reduce, inputs);
  const bool sums = inputs == 1 && sums_small_floats({.computation = reduce.called[0]}, nest.node(initial[0]).type);
  if (sums) initial[0] = nest.convert(initial[0], ElementType::kF32);
  const int32_t loop = nest.begin_sequential(extent, initial);
  const Affine step = nest.index_of(loop);
  at[fold->dimension] = fold->forward ? step : nest.plus(nest.times(step, -1), NestBuilder::fixed(extent - 1));
  std::vector<NodeId> elements = elements_at(context, reduce, inputs, at);
  if (sums) elements[0] = nest.convert(elements[0], ElementType::kF32);
  std::vector<NodeId> accumulators;
  bool one_type = true;
  for (size_t k = 0; k < inputs; ++k) {
    accumulators.push_back(nest.carried(loop, static_cast<int32_t>(k)));
    one_type = one_type && nest.node(accumulators[k]).type == nest.node(elements[k]).type;
  }
  // When folding from the far end, the accumulator is the right operand.
  const bool swap = !fold->forward && one_type;
  std::vector<NodeId> arguments = swap ? elements : accumulators;
  const std::vector<NodeId>& second = swap ? accumulators : elements;
  arguments.insert(arguments.end(), second.begin(), second.end());
  const std::vector<NodeId> next =
      sums ? std::vector<NodeId>{nest.operation(Opcode::kAdd, ElementType::kF32, {arguments[0], arguments[1]})}
           : context.call(*reduce.called[0], arguments);
  for (size_t k = 0; k < inputs; ++k) {
    const int32_t buffer = context.buffer_of(reduce, static_cast<int64_t>(k));
    if (buffer != kNoId) nest.store(buffer, nest.position(at, extents), as_result(context, reduce, k, next[k]));
  }
  nest.end_carrying(loop, next);
  while (!lines.empty()) {
    nest.end_parallel(lines.back());
    lines.pop_back();
  }
}

}  // namespace lowtide::engine
