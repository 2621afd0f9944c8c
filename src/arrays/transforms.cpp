// Transformations of functions. Arrays are lazy graphs already, so calling a function traces it.
#include "lowtide/transforms.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "arrays/evaluate.h"
#include "arrays/functions.h"
#include "arrays/support.h"
#include "lowtide/ops.h"

namespace lowtide {

using namespace lazy;

namespace lazy {

/// The cotangents of `inputs`, given those of `outputs`, which depend on them; none: zero.
Gradients backwards(const std::vector<array>& inputs, const std::vector<array>& outputs,
                    const std::vector<array>& cotangents) {
  const std::lock_guard lock(Runtime::get().graphs);
  std::unordered_map<const array::State*, array> sums;
  std::unordered_set<const array::State*> depends;
  for (const array& input : inputs) depends.insert(input.state().get());
  const auto add = [&](const array& to, const array& c) {
    const auto [found, is_new] = sums.try_emplace(to.state().get(), c);
    if (!is_new) found->second = found->second + c;
  };
  for (size_t o = 0; o < outputs.size(); ++o) add(outputs[o], cotangents[o]);
  // Integers are differentiated only if an integer input was asked for, of which they are functions: an index that is
  // computed from floats has no derivative, but the transpose of a conversion to integers has integers as its input.
  std::unordered_set<const array::State*> integers;
  for (const array& input : inputs) {
    if (issubdtype(input.dtype(), integer)) integers.insert(input.state().get());
  }
  const auto steps = steps_between(inputs, outputs);
  for (const auto& step : steps) {
    const bool of_integers =
        std::ranges::any_of(step->inputs, [&](const array& input) { return integers.contains(input.state().get()); });
    for (size_t o = 0; o < step->outputs.size(); ++o) {
      const auto state = step->outputs[o].lock();
      if (!state) continue;
      depends.insert(state.get());
      if (of_integers && issubdtype(step->specs[o].dtype, integer)) integers.insert(state.get());
    }
  }
  const auto is_differentiated = [&](const array& a) {
    const auto* const state = a.state().get();
    return depends.contains(state) && (issubdtype(a.dtype(), inexact) || integers.contains(state));
  };
  for (auto at_step = steps.rbegin(); at_step != steps.rend(); ++at_step) {
    Step& step = **at_step;
    bool any = false;
    for (const auto& output : step.outputs) {
      const auto state = output.lock();
      any = any || (state && sums.contains(state.get()));
    }
    if (!any) continue;
    std::vector<array> made, given;
    std::vector<bool> reached;
    for (size_t o = 0; o < step.outputs.size(); ++o) {
      made.push_back(output_of(*at_step, o));
      const auto found = sums.find(made.back().state().get());
      reached.push_back(found != sums.end());
      given.push_back(found == sums.end() ? constant(0, step.specs[o].dtype, step.specs[o].shape) : found->second);
    }
    std::vector<bool> wanted;
    for (const array& input : step.inputs) wanted.push_back(is_differentiated(input));
    const Gradients gradients = step.primitive->vjp({step.inputs, made, given, wanted, reached});
    for (size_t i = 0; i < gradients.size(); ++i) {
      if (!gradients[i] || !wanted[i]) continue;
      if (gradients[i]->shape() != step.inputs[i].shape())
        throw std::logic_error(fmt::format("the derivative of {} has the shape {}, expected {}", step.primitive->name(),
                                           to_string(gradients[i]->shape()), to_string(step.inputs[i].shape())));
      add(step.inputs[i], as_type(*gradients[i], step.inputs[i].dtype(), {}));
    }
  }
  Gradients found;
  for (const array& input : inputs) {
    const auto sum = sums.find(input.state().get());
    found.push_back(sum == sums.end() ? std::nullopt : std::optional<array>(sum->second));
  }
  return found;
}

std::vector<array> or_zeros(Gradients gradients, const std::vector<array>& like) {
  std::vector<array> made;
  for (size_t i = 0; i < gradients.size(); ++i)
    made.push_back(gradients[i] ? *gradients[i] : constant(0, like[i].dtype(), like[i].shape()));
  return made;
}

}  // namespace lazy

namespace {

/// Keeps a trace open while a function is called.
class Tracing {
 public:
  Tracing() : trace_(std::make_shared<Trace>()) {
    auto& traces = this_thread().traces;
    trace_->depth = static_cast<int>(traces.size());
    traces.push_back(trace_);
  }
  ~Tracing() {
    trace_->live = false;
    this_thread().traces.pop_back();
  }
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;
  const std::shared_ptr<Trace>& trace() const { return trace_; }

 private:
  std::shared_ptr<Trace> trace_;
};

/// Sets, while it lives, whether a forward- or reverse-mode derivative is computed: custom rules may differ.
class Direction {
 public:
  explicit Direction(bool forwards) : before_(std::exchange(this_thread().forwards, forwards)) {}
  ~Direction() { this_thread().forwards = before_; }
  Direction(const Direction&) = delete;
  Direction& operator=(const Direction&) = delete;

 private:
  bool before_;
};

void check_alike(std::string_view name, const char* what, const std::vector<array>& found,
                 const std::vector<array>& expected) {
  if (found.size() != expected.size()) fault(name, "found {} {}, expected {}", found.size(), what, expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i].shape() != expected[i].shape())
      fault(name, "found {} of shape {}, expected {}", what, to_string(found[i].shape()),
            to_string(expected[i].shape()));
  }
}

std::vector<array> traced(const std::vector<array>& arrays, const std::shared_ptr<Trace>& trace) {
  std::vector<array> copies;
  for (const array& a : arrays) copies.push_back(traced_copy(a, trace));
  return copies;
}

}  // namespace

std::pair<std::vector<array>, std::vector<array>> vjp(const ManyToMany& fun, const std::vector<array>& primals,
                                                      const std::vector<array>& cotangents) {
  const Tracing tracing;
  const std::vector<array> inputs = traced(primals, tracing.trace());
  const std::vector<array> outputs = fun(inputs);
  check_alike("vjp", "cotangents", cotangents, outputs);
  const Direction backwards_only(false);
  return {outputs, or_zeros(backwards(inputs, outputs, cotangents), inputs)};
}

std::pair<array, array> vjp(const OneToOne& fun, const array& primal, const array& cotangent) {
  const auto [outputs, gradients] =
      vjp([&](const std::vector<array>& in) { return std::vector<array>{fun(in[0])}; }, {primal}, {cotangent});
  return {outputs[0], gradients[0]};
}

// vjp is the transposed derivative, a linear map of the cotangents; transposing it again gives the derivative.
std::pair<std::vector<array>, std::vector<array>> jvp(const ManyToMany& fun, const std::vector<array>& primals,
                                                      const std::vector<array>& tangents) {
  check_alike("jvp", "tangents", tangents, primals);
  const Tracing tracing;
  const std::vector<array> inputs = traced(primals, tracing.trace());
  const std::vector<array> outputs = fun(inputs);
  std::vector<array> cotangents;
  for (const array& output : outputs)
    cotangents.push_back(traced_copy(constant(0, output.dtype(), output.shape()), tracing.trace()));
  const Direction forwards(true);
  const Gradients linear = backwards(inputs, outputs, cotangents);
  std::vector<array> reached, given;
  for (size_t i = 0; i < linear.size(); ++i) {
    if (!linear[i]) continue;
    reached.push_back(*linear[i]);
    given.push_back(as_type(tangents[i], linear[i]->dtype(), {}));
  }
  return {outputs, or_zeros(backwards(cotangents, reached, given), outputs)};
}

std::pair<array, array> jvp(const OneToOne& fun, const array& primal, const array& tangent) {
  const auto [outputs, tangents] =
      jvp([&](const std::vector<array>& in) { return std::vector<array>{fun(in[0])}; }, {primal}, {tangent});
  return {outputs[0], tangents[0]};
}

ValueAndGradFn value_and_grad(const ManyToMany& fun, std::vector<int> argnums) {
  if (argnums.empty()) fault("grad", "found no arguments to differentiate by");
  return [fun, argnums](const std::vector<array>& args) {
    const Tracing tracing;
    std::vector<array> inputs = args, chosen;
    std::vector<bool> is_chosen(args.size(), false);
    for (const int argnum : argnums) {
      const auto i = static_cast<size_t>(argnum < 0 ? argnum + static_cast<int>(args.size()) : argnum);
      if (i >= args.size()) fault("grad", "found argument {} of {}", argnum, args.size());
      if (is_chosen[i]) fault("grad", "found argument {} twice", i);
      is_chosen[i] = true;
      if (!issubdtype(args[i].dtype(), inexact))
        fault("grad", "found argument {} of type {}, expected floats", argnum, dtype_to_string(args[i].dtype()));
      inputs[i] = traced_copy(args[i], tracing.trace());
      chosen.push_back(inputs[i]);
    }
    const std::vector<array> outputs = fun(inputs);
    if (outputs.empty() || outputs[0].ndim() != 0)
      fault("grad", "found a first result of shape {}, expected a scalar",
            outputs.empty() ? "nothing" : to_string(outputs[0].shape()));
    const Direction backwards_only(false);
    return std::pair(outputs, or_zeros(backwards(chosen, {outputs[0]}, {ones_like(outputs[0])}), chosen));
  };
}

std::function<std::pair<array, array>(const array&)> value_and_grad(const OneToOne& fun) {
  const auto both = value_and_grad([fun](const std::vector<array>& in) { return std::vector<array>{fun(in[0])}; }, 0);
  return [both](const array& a) {
    const auto [values, gradients] = both({a});
    return std::pair(values[0], gradients[0]);
  };
}
SimpleValueAndGradFn value_and_grad(const ManyToOne& fun, std::vector<int> argnums) {
  const auto both =
      value_and_grad([fun](const std::vector<array>& in) { return std::vector<array>{fun(in)}; }, std::move(argnums));
  return [both](const std::vector<array>& args) {
    auto [values, gradients] = both(args);
    return std::pair(values[0], std::move(gradients));
  };
}
ManyToMany grad(const ManyToOne& fun, std::vector<int> argnums) {
  const auto both = value_and_grad(fun, std::move(argnums));
  return [both](const std::vector<array>& args) { return both(args).second; };
}
OneToOne grad(const OneToOne& fun) {
  const auto both = value_and_grad(fun);
  return [both](const array& a) { return both(a).second; };
}

namespace lazy {

std::pair<std::vector<array>, std::vector<bool>> batched_graph(const std::vector<array>& from,
                                                               const std::vector<array>& outputs,
                                                               const std::vector<array>& inputs,
                                                               const std::vector<bool>& has, int64_t count) {
  const std::lock_guard lock(Runtime::get().graphs);
  std::unordered_map<const array::State*, std::pair<array, bool>> known;
  for (size_t i = 0; i < from.size(); ++i)
    known.emplace(from[i].state().get(), std::pair(inputs[i], static_cast<bool>(has[i])));
  const auto now = [&](const array& a) {
    const auto found = known.find(a.state().get());
    return found == known.end() ? std::pair(a, false) : found->second;
  };
  for (const auto& step : steps_between(from, outputs)) {
    std::vector<array> operands;
    std::vector<bool> batched;
    for (const array& input : step->inputs) {
      const auto [value, is_batched] = now(input);
      operands.push_back(value);
      batched.push_back(is_batched);
    }
    const bool any = std::ranges::find(batched, true) != batched.end();
    const std::vector<array> made = any ? step->primitive->vmap({operands, batched, count, step->specs})
                                        : apply_all(step->primitive, operands, step->specs, Stream{step->stream});
    for (size_t o = 0; o < made.size(); ++o) {
      const auto state = step->outputs[o].lock();
      if (any) {
        Shape expected = step->specs[o].shape;
        expected.insert(expected.begin(), count);
        if (made[o].shape() != expected)
          throw std::logic_error(fmt::format("a batch of {} has the shape {}, expected {}", step->primitive->name(),
                                             to_string(made[o].shape()), to_string(expected)));
      }
      if (state) known.insert_or_assign(state.get(), std::pair(made[o], any));
    }
  }
  std::pair<std::vector<array>, std::vector<bool>> results;
  for (const array& output : outputs) {
    const auto [value, is_batched] = now(output);
    results.first.push_back(value);
    results.second.push_back(is_batched);
  }
  return results;
}

}  // namespace lazy

ManyToMany vmap(const ManyToMany& fun, const std::vector<int>& in_axes, const std::vector<int>& out_axes) {
  const auto none = [](const std::vector<int>& axes) {
    return !axes.empty() && std::ranges::count(axes, -1) == std::ssize(axes);
  };
  if (none(in_axes) && none(out_axes)) return fun;
  static constexpr const char* kNoAxis = "found no argument with an axis to go along";
  if (none(in_axes)) fault("vmap", kNoAxis);
  if (none(out_axes)) fault("vmap", "found no result with an axis, but arguments that have one");
  return [fun, in_axes, out_axes](const std::vector<array>& args) {
    if (!in_axes.empty() && in_axes.size() != args.size())
      fault("vmap", "found {} axes for {} arguments", in_axes.size(), args.size());
    const Tracing tracing;
    int64_t count = -1;
    std::vector<array> inputs, placeholders;
    std::vector<bool> has;
    for (size_t i = 0; i < args.size(); ++i) {
      const int axis = in_axes.empty() ? 0 : in_axes[i];
      // -1 means no batch axis; other negative axes count from the end.
      has.push_back(axis != -1);
      if (axis == -1) {
        inputs.push_back(args[i]);
        placeholders.push_back(args[i]);
        continue;
      }
      const int64_t d = axis_of("vmap", axis, args[i].ndim());
      if (count >= 0 && args[i].shape()[at(d)] != count)
        fault("vmap", "found extents {} and {} along the axes", count, args[i].shape()[at(d)]);
      count = args[i].shape()[at(d)];
      inputs.push_back(moveaxis(args[i], static_cast<int>(d), 0));
      Shape one = args[i].shape();
      one.erase(one.begin() + d);
      placeholders.push_back(placeholder(one, args[i].dtype(), tracing.trace()));
    }
    if (count < 0) fault("vmap", kNoAxis);
    const std::vector<array> outputs = fun(placeholders);
    if (!out_axes.empty() && out_axes.size() != outputs.size())
      fault("vmap", "found {} axes for {} results", out_axes.size(), outputs.size());
    const auto [values, batched] = batched_graph(placeholders, outputs, inputs, has, count);
    std::vector<array> results;
    for (size_t o = 0; o < values.size(); ++o) {
      const int axis = out_axes.empty() ? 0 : out_axes[o];
      if (axis == -1) {
        if (batched[o]) fault("vmap", "found result {} without an axis, which depends on the arguments", o);
        results.push_back(values[o]);
      } else {
        results.push_back(moveaxis(with_batch(values[o], batched[o], count), 0, axis));
      }
    }
    return results;
  };
}

OneToOne vmap(const OneToOne& fun, int in_axis, int out_axis) {
  const auto many = vmap([fun](const std::vector<array>& in) { return std::vector<array>{fun(in[0])}; },
                         std::vector<int>{in_axis}, std::vector<int>{out_axis});
  return [many](const array& a) { return many({a})[0]; };
}
std::function<array(const array&, const array&)> vmap(const std::function<array(const array&, const array&)>& fun,
                                                      int in_axis_a, int in_axis_b, int out_axis) {
  const auto many = vmap([fun](const std::vector<array>& in) { return std::vector<array>{fun(in[0], in[1])}; },
                         {in_axis_a, in_axis_b}, {out_axis});
  return [many](const array& a, const array& b) { return many({a, b})[0]; };
}

}  // namespace lowtide
