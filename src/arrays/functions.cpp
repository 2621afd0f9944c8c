#include "arrays/functions.h"

#include <algorithm>
#include <unordered_set>

#include "arrays/evaluate.h"
#include "arrays/support.h"
#include "lowtide/ops.h"

namespace lowtide {

using namespace lazy;

namespace lazy {

std::vector<Spec> specs_of(const std::vector<array>& arrays) {
  std::vector<Spec> specs;
  for (const array& a : arrays) specs.push_back({a.shape(), a.dtype()});
  return specs;
}

Traced trace(const ManyToMany& fun, const std::vector<Spec>& arguments) {
  Traced made;
  std::vector<array>& inputs = made.function.inputs;
  for (const Spec& spec : arguments) inputs.push_back(placeholder(spec.shape, spec.dtype));
  std::vector<array> outputs = fun(inputs);
  const std::lock_guard lock(Runtime::get().graphs);
  // Values that don't depend on the arguments are captured, instead of being computed inside of the function.
  std::unordered_set<const array::State*> inside, seen;
  for (const array& input : inputs) inside.insert(input.state().get());
  std::vector<array> replaced, placeholders;
  const auto capture = [&](const array& a) {
    if (inside.contains(a.state().get()) || !seen.insert(a.state().get()).second) return;
    made.captured.push_back(a);
    replaced.push_back(a);
    placeholders.push_back(placeholder(a.shape(), a.dtype()));
  };
  const auto steps = steps_below(outputs, inputs);
  for (const auto& step : steps) {
    const bool depends =
        std::ranges::any_of(step->inputs, [&](const array& input) { return inside.contains(input.state().get()); });
    const bool is_constant = step->inputs.empty();
    if (!depends && !is_constant) continue;
    for (const auto& output : step->outputs) {
      if (const auto state = output.lock()) inside.insert(state.get());
    }
  }
  for (const auto& step : steps) {
    const bool is_inside = std::ranges::any_of(step->outputs, [&](const auto& output) {
      const auto state = output.lock();
      return state && inside.contains(state.get());
    });
    if (!is_inside) continue;
    for (const array& input : step->inputs) capture(input);
  }
  for (const array& output : outputs) capture(output);
  // Constants may be shared with other code, and lose their steps when that code evaluates them: the function gets
  // copies.
  std::vector<array> constants, copies;
  for (const auto& step : steps) {
    if (!step->inputs.empty()) continue;
    const std::vector<array> made = apply_all(step->primitive, {}, step->specs, Stream{step->stream});
    for (size_t o = 0; o < made.size(); ++o) {
      constants.push_back(output_of(step, o));
      copies.push_back(made[o]);
    }
  }
  if (!replaced.empty() || !constants.empty()) {
    // Rebuilds the graph with placeholders for all captured arrays.
    std::vector<array> from = inputs, to = inputs;
    from.insert(from.end(), replaced.begin(), replaced.end());
    to.insert(to.end(), placeholders.begin(), placeholders.end());
    from.insert(from.end(), constants.begin(), constants.end());
    to.insert(to.end(), copies.begin(), copies.end());
    outputs = substitute(from, outputs, to);
    inputs.insert(inputs.end(), placeholders.begin(), placeholders.end());
  }
  made.function.outputs = std::move(outputs);
  made.function.key = key_of(inputs, made.function.outputs);
  return made;
}

Function batched_function(const Function& function, const std::vector<bool>& has, int64_t count) {
  Function made;
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    Shape shape = function.inputs[i].shape();
    if (has[i]) shape.insert(shape.begin(), count);
    made.inputs.push_back(placeholder(shape, function.inputs[i].dtype()));
  }
  auto [outputs, batched] = batched_graph(function.inputs, function.outputs, made.inputs, has, count);
  for (size_t o = 0; o < outputs.size(); ++o) made.outputs.push_back(with_batch(outputs[o], batched[o], count));
  made.key = key_of(made.inputs, made.outputs);
  return made;
}

namespace {

/// User-defined replacements of a function's transformations.
struct Custom {
  CustomVjp vjp;
  CustomJvp jvp;
  CustomVmap vmap;
};

/// A traced function as one step: its graph is inlined when it is lowered, differentiated or batched.
class Call final : public Primitive {
 public:
  Call(std::shared_ptr<const Function> function, bool again, Custom custom, size_t arguments)
      : function_(std::move(function)), again_(again), custom_(std::move(custom)), arguments_(arguments) {}
  std::string_view name() const override { return "call"; }
  void describe(Key& key) const override { key.text(function_->key); }
  std::vector<Term> lower(Lowering& to, const std::vector<Term>& in, const std::vector<Spec>&) const override {
    return to.inlined(function_->inputs, function_->outputs, in);
  }
  Gradients vjp(const Backward& b) const override {
    const bool forwards = this_thread().forwards;
    if (forwards ? custom_.jvp != nullptr : custom_.vjp != nullptr) {
      const std::vector<array> primals = first(b.inputs);
      Gradients gradients = forwards ? by_jvp(b, primals) : by_vjp(b, primals);
      gradients.resize(b.inputs.size());
      return gradients;
    }
    std::vector<array> inputs;
    for (const array& input : b.inputs) inputs.push_back(elementwise(again_ ? Op::kBarrier : Op::kSameValue, input));
    const std::vector<array> outputs = substitute(function_->inputs, function_->outputs, inputs);
    return backwards(inputs, outputs, b.cotangents);
  }
  std::vector<array> vmap(const Batch& batch) const override {
    const bool captures_batch = std::find(batch.batched.begin() + static_cast<int64_t>(arguments_), batch.batched.end(),
                                          true) != batch.batched.end();
    if (custom_.vmap && !captures_batch) return by_vmap(batch);
    auto function = std::make_shared<Function>(batched_function(*function_, batch.batched, batch.count));
    std::vector<Spec> specs = specs_of(function->outputs);
    return apply_all(std::make_shared<Call>(std::move(function), again_, batched_rules(batch), arguments_),
                     batch.inputs, specs);
  }

 private:
  std::vector<array> first(const std::vector<array>& inputs) const {
    return {inputs.begin(), inputs.begin() + static_cast<int64_t>(arguments_)};
  }
  Gradients by_vjp(const Backward& b, const std::vector<array>& primals) const {
    const std::vector<array> made = custom_.vjp(primals, b.cotangents, b.outputs);
    if (made.size() != arguments_) fault("custom_vjp", "found {} gradients of {} arguments", made.size(), arguments_);
    return {made.begin(), made.end()};
  }
  /// The outputs' tangents are linear in the primals' tangents: the transpose of that map gives the gradients.
  Gradients by_jvp(const Backward& b, const std::vector<array>& primals) const {
    std::vector<int> places;
    std::vector<array> tangents;
    for (size_t i = 0; i < arguments_; ++i) {
      if (!b.wanted[i]) continue;
      places.push_back(static_cast<int>(i));
      tangents.push_back(zeros_like(primals[i]));
    }
    Gradients gradients(arguments_);
    if (places.empty()) return gradients;
    const std::vector<array> made = custom_.jvp(primals, tangents, places);
    if (made.size() != b.cotangents.size())
      fault("custom_function", "found {} tangents of {} results", made.size(), b.cotangents.size());
    const Gradients transposed = backwards(tangents, made, b.cotangents);
    for (size_t k = 0; k < places.size(); ++k) gradients[places[k]] = transposed[k];
    return gradients;
  }
  std::vector<array> by_vmap(const Batch& batch) const {
    std::vector<int> axes;
    for (size_t i = 0; i < arguments_; ++i) axes.push_back(batch.batched[i] ? 0 : -1);
    auto [made, out] = custom_.vmap(first(batch.inputs), axes);
    if (made.size() != batch.outputs.size() || out.size() != made.size())
      fault("custom_function", "found {} batches and {} axes of {} results", made.size(), out.size(),
            batch.outputs.size());
    for (size_t o = 0; o < made.size(); ++o)
      made[o] = out[o] == -1 ? with_batch(made[o], false, batch.count) : moveaxis(made[o], out[o], 0);
    return made;
  }
  /// The custom rules, batched: an input without a batch dimension gets the sum of the batch's gradients.
  Custom batched_rules(const Batch& batch) const {
    Custom rules;
    std::vector<int> axes;
    for (size_t i = 0; i < arguments_; ++i) axes.push_back(batch.batched[i] ? 0 : -1);
    if (custom_.vjp) {
      rules.vjp = [vjp = custom_.vjp, axes](const std::vector<array>& primals, const std::vector<array>& cotangents,
                                            const std::vector<array>& outputs) {
        std::vector<int> all = axes;
        all.resize(primals.size() + cotangents.size() + outputs.size(), 0);
        std::vector<array> given = primals;
        given.insert(given.end(), cotangents.begin(), cotangents.end());
        given.insert(given.end(), outputs.begin(), outputs.end());
        const auto of_one = [&](const std::vector<array>& in) {
          const auto at = in.begin() + static_cast<int64_t>(primals.size());
          const auto end = at + static_cast<int64_t>(cotangents.size());
          return vjp({in.begin(), at}, {at, end}, {end, in.end()});
        };
        std::vector<array> made = lowtide::vmap(ManyToMany(of_one), all, {})(given);
        for (size_t i = 0; i < made.size(); ++i) {
          if (axes[i] == -1) made[i] = sum(made[i], 0);
        }
        return made;
      };
    }
    if (custom_.jvp) {
      rules.jvp = [jvp = custom_.jvp, axes](const std::vector<array>& primals, const std::vector<array>& tangents,
                                            const std::vector<int>& places) {
        std::vector<int> all = axes;
        for (const int place : places) all.push_back(axes[place]);
        std::vector<array> given = primals;
        given.insert(given.end(), tangents.begin(), tangents.end());
        const auto of_one = [&](const std::vector<array>& in) {
          const auto at = in.begin() + static_cast<int64_t>(primals.size());
          return jvp({in.begin(), at}, {at, in.end()}, places);
        };
        return lowtide::vmap(ManyToMany(of_one), all, {})(given);
      };
    }
    return rules;
  }

  std::shared_ptr<const Function> function_;
  bool again_;  ///< derivatives recompute everything from the inputs (checkpoint)
  Custom custom_;
  size_t arguments_;
};

std::vector<array> called(const Traced& traced, const std::vector<array>& args, bool again, const Custom& custom) {
  std::vector<array> inputs = args;
  inputs.insert(inputs.end(), traced.captured.begin(), traced.captured.end());
  auto function = std::make_shared<Function>(traced.function);
  std::vector<Spec> specs = specs_of(function->outputs);
  return apply_all(std::make_shared<Call>(std::move(function), again, custom, args.size()), inputs, specs);
}

}  // namespace
}  // namespace lazy

ManyToMany compile(ManyToMany fun, bool) {
  if (!fun && Runtime::get().compile_mode != CompileMode::disabled) fault("compile", "found no function");
  struct Known {
    std::mutex mutex;
    std::map<std::string, Traced> traced;
  };
  return [fun = std::move(fun), known = std::make_shared<Known>()](const std::vector<array>& args) {
    if (Runtime::get().compile_mode == CompileMode::disabled) return fun(args);
    Key key;
    for (const array& arg : args) key.value(arg.shape(), arg.dtype());
    const std::lock_guard lock(known->mutex);
    auto found = known->traced.find(key.bytes());
    if (found == known->traced.end()) found = known->traced.emplace(key.bytes(), trace(fun, specs_of(args))).first;
    return called(found->second, args, false, {});
  };
}
ManyToMany compile(std::vector<array> (*fun)(const std::vector<array>&), bool shapeless) {
  return compile(ManyToMany(fun), shapeless);
}
void disable_compile() { set_compile_mode(CompileMode::disabled); }
void enable_compile() { set_compile_mode(CompileMode::enabled); }
void set_compile_mode(CompileMode mode) { Runtime::get().compile_mode = mode; }

ManyToMany checkpoint(ManyToMany fun) {
  return [fun = std::move(fun)](const std::vector<array>& args) {
    return called(trace(fun, specs_of(args)), args, true, {});
  };
}

ManyToMany custom_function(ManyToMany fun, std::optional<CustomVjp> fun_vjp, std::optional<CustomJvp> fun_jvp,
                           std::optional<CustomVmap> fun_vmap) {
  const Custom custom = {fun_vjp.value_or(nullptr), fun_jvp.value_or(nullptr), fun_vmap.value_or(nullptr)};
  return [fun = std::move(fun), custom](const std::vector<array>& args) {
    return called(trace(fun, specs_of(args)), args, false, custom);
  };
}

ManyToMany custom_vjp(ManyToMany fun, CustomVjp fun_vjp) { return custom_function(std::move(fun), std::move(fun_vjp)); }

}  // namespace lowtide
