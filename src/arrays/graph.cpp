#include "arrays/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "arrays/runtime.h"

namespace lowtide::lazy {

int64_t element_count(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

std::string to_string(const Shape& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

/// Releases long chains of steps iteratively, without one nested call per step.
Step::~Step() {
  std::vector<array> left = std::move(inputs);
  while (!left.empty()) {
    array last = std::move(left.back());
    left.pop_back();
    array::State* const state = last.state().get();
    if (!state || last.state().use_count() != 1 || !state->step || state->step.use_count() != 1) continue;
    for (array& input : state->step->inputs) left.push_back(std::move(input));
    state->step->inputs.clear();
  }
}

namespace {

/// Sets `trace` to the one of both that ends later: the outer one.
void join_trace(std::shared_ptr<Trace>& trace, const std::shared_ptr<Trace>& other) {
  if (other && other->live && (!trace || !trace->live || other->depth < trace->depth)) trace = other;
}

std::shared_ptr<array::State> make_state(const std::shared_ptr<Step>& step, size_t output) {
  auto state = std::make_shared<array::State>();
  state->shape = step->specs[output].shape;
  state->dtype = step->specs[output].dtype;
  state->output = output;
  state->trace = step->trace;
  state->largest_source = step->largest_source;
  state->stream = step->stream;
  state->step = step;
  return state;
}

}  // namespace

std::vector<array> apply_all(std::shared_ptr<const Primitive> primitive, std::vector<array> inputs,
                             std::vector<Spec> outputs, StreamOrDevice s) {
  auto step = std::make_shared<Step>();
  step->primitive = std::move(primitive);
  const std::lock_guard lock(Runtime::get().graphs);  // another thread may be evaluating the inputs
  for (const array& input : inputs) {
    const array::State& state = *input.state();
    join_trace(step->trace, state.trace);
    step->largest_source = std::max(step->largest_source, state.stands() ? input.nbytes() : state.largest_source);
  }
  step->stream = s.index >= 0 ? s.index : default_stream().index;
  step->inputs = std::move(inputs);
  step->specs = std::move(outputs);
  std::vector<array> made;
  for (size_t o = 0; o < step->specs.size(); ++o) {
    auto state = make_state(step, o);
    step->outputs.push_back(state);
    made.push_back(array(std::move(state)));
  }
  return made;
}

array apply(std::shared_ptr<const Primitive> primitive, std::vector<array> inputs, Shape shape, Dtype dtype,
            StreamOrDevice s) {
  return std::move(apply_all(std::move(primitive), std::move(inputs), {{std::move(shape), dtype}}, s).front());
}

array output_of(const std::shared_ptr<Step>& step, size_t output) {
  auto state = step->outputs[output].lock();
  if (!state) {
    state = make_state(step, output);
    step->outputs[output] = state;
  }
  return array(std::move(state));
}

array placeholder(const Shape& shape, Dtype dtype, std::shared_ptr<Trace> trace) {
  auto state = std::make_shared<array::State>();
  state->shape = shape;
  state->dtype = dtype;
  state->trace = std::move(trace);
  return array(std::move(state));
}

array traced_copy(const array& a, const std::shared_ptr<Trace>& trace) {
  array copy = apply(same_value(), {a}, a.shape(), a.dtype());
  join_trace(copy.state()->trace, trace);
  join_trace(copy.state()->step->trace, trace);
  return copy;
}

std::vector<std::shared_ptr<Step>> steps_below(const std::vector<array>& to, const std::vector<array>& stop,
                                               bool through) {
  std::vector<std::shared_ptr<Step>> order;
  std::unordered_set<const Step*> seen;
  std::unordered_set<const array::State*> ends;
  for (const array& a : stop) ends.insert(a.state().get());
  struct Visit {
    std::shared_ptr<Step> step;
    size_t input;
  };
  std::vector<Visit> stack;
  const auto push = [&](const array& a) {
    const array::State& state = *a.state();
    const bool enters = !state.stands() || (through && state.trace && state.trace->live);
    if (state.step && enters && !ends.contains(&state) && seen.insert(state.step.get()).second)
      stack.push_back({state.step, 0});
  };
  for (const array& a : to) {
    push(a);
    while (!stack.empty()) {
      Visit& top = stack.back();
      if (top.input == top.step->inputs.size()) {
        order.push_back(std::move(top.step));
        stack.pop_back();
      } else {
        push(top.step->inputs[top.input++]);
      }
    }
  }
  return order;
}

std::vector<std::shared_ptr<Step>> steps_between(const std::vector<array>& from, const std::vector<array>& to) {
  std::unordered_map<const array::State*, bool> depends;
  for (const array& a : from) depends.emplace(a.state().get(), true);
  std::vector<std::shared_ptr<Step>> order;
  for (auto& step : steps_below(to, from, true)) {
    const bool does =
        std::ranges::any_of(step->inputs, [&](const array& input) { return depends.contains(input.state().get()); });
    if (!does) continue;
    for (const auto& output : step->outputs) {
      if (const auto state = output.lock()) depends.emplace(state.get(), true);
    }
    order.push_back(std::move(step));
  }
  return order;
}

std::vector<array> substitute(const std::vector<array>& from, const std::vector<array>& outputs,
                              const std::vector<array>& inputs) {
  const std::lock_guard lock(Runtime::get().graphs);
  std::unordered_map<const array::State*, array> known;
  for (size_t i = 0; i < from.size(); ++i) known.emplace(from[i].state().get(), inputs[i]);
  const auto now = [&](const array& a) {
    const auto found = known.find(a.state().get());
    return found == known.end() ? a : found->second;
  };
  for (const auto& step : steps_between(from, outputs)) {
    std::vector<array> operands;
    for (const array& input : step->inputs) operands.push_back(now(input));
    const std::vector<array> made = apply_all(step->primitive, std::move(operands), step->specs, Stream{step->stream});
    for (size_t o = 0; o < made.size(); ++o) {
      if (const auto state = step->outputs[o].lock()) known.emplace(state.get(), made[o]);
    }
  }
  std::vector<array> results;
  for (const array& output : outputs) results.push_back(now(output));
  return results;
}

}  // namespace lowtide::lazy
