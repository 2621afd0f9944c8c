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
  // Every value that doesn't depend on the arguments comes from outside, with all below it.
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
  if (!replaced.empty()) {
    // The graph once more, over placeholders alone.
    std::vector<array> from = inputs, to = inputs;
    from.insert(from.end(), replaced.begin(), replaced.end());
    to.insert(to.end(), placeholders.begin(), placeholders.end());
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

using CustomVjp =
    std::function<std::vector<array>(const std::vector<array>&, const std::vector<array>&, const std::vector<array>&)>;

/// A traced function as one step: its graph where it is lowered, differentiated and batched.
class Call final : public Primitive {
 public:
  Call(std::shared_ptr<const Function> function, bool again, CustomVjp custom, size_t arguments)
      : function_(std::move(function)), again_(again), custom_(std::move(custom)), arguments_(arguments) {}
  std::string_view name() const override { return "call"; }
  void describe(Key& key) const override { key.text(function_->key); }
  std::vector<Term> lower(Lowering& to, const std::vector<Term>& in, const std::vector<Spec>&) const override {
    return to.inlined(function_->inputs, function_->outputs, in);
  }
  Gradients vjp(const Backward& b) const override {
    if (custom_) {
      const std::vector<array> primals(b.inputs.begin(), b.inputs.begin() + static_cast<int64_t>(arguments_));
      const std::vector<array> made = custom_(primals, b.cotangents, b.outputs);
      if (made.size() != arguments_) fault("custom_vjp", "found {} gradients of {} arguments", made.size(), arguments_);
      Gradients gradients(made.begin(), made.end());
      gradients.resize(b.inputs.size());
      return gradients;
    }
    std::vector<array> inputs;
    for (const array& input : b.inputs) inputs.push_back(elementwise(again_ ? Op::kBarrier : Op::kSameValue, input));
    const std::vector<array> outputs = substitute(function_->inputs, function_->outputs, inputs);
    return backwards(inputs, outputs, b.cotangents);
  }
  std::vector<array> vmap(const Batch& batch) const override {
    auto function = std::make_shared<Function>(batched_function(*function_, batch.batched, batch.count));
    std::vector<Spec> specs = specs_of(function->outputs);
    return apply_all(std::make_shared<Call>(std::move(function), again_, custom_, arguments_), batch.inputs, specs);
  }

 private:
  std::shared_ptr<const Function> function_;
  bool again_;  ///< a derivative computes everything anew, from the inputs
  CustomVjp custom_;
  size_t arguments_;
};

std::vector<array> called(const Traced& traced, const std::vector<array>& args, bool again, const CustomVjp& custom) {
  std::vector<array> inputs = args;
  inputs.insert(inputs.end(), traced.captured.begin(), traced.captured.end());
  auto function = std::make_shared<Function>(traced.function);
  std::vector<Spec> specs = specs_of(function->outputs);
  return apply_all(std::make_shared<Call>(std::move(function), again, custom, args.size()), inputs, specs);
}

}  // namespace
}  // namespace lazy

ManyToMany compile(ManyToMany fun, bool) {
  struct Known {
    std::mutex mutex;
    std::map<std::string, Traced> traced;
  };
  return [fun = std::move(fun), known = std::make_shared<Known>()](const std::vector<array>& args) {
    Key key;
    for (const array& arg : args) key.value(arg.shape(), arg.dtype());
    const std::lock_guard lock(known->mutex);
    auto found = known->traced.find(key.bytes());
    if (found == known->traced.end()) found = known->traced.emplace(key.bytes(), trace(fun, specs_of(args))).first;
    return called(found->second, args, false, {});
  };
}

ManyToMany checkpoint(ManyToMany fun) {
  return [fun = std::move(fun)](const std::vector<array>& args) {
    return called(trace(fun, specs_of(args)), args, true, {});
  };
}

ManyToMany custom_vjp(
    ManyToMany fun,
    std::function<std::vector<array>(const std::vector<array>&, const std::vector<array>&, const std::vector<array>&)>
        fun_vjp) {
  return [fun = std::move(fun), fun_vjp = std::move(fun_vjp)](const std::vector<array>& args) {
    return called(trace(fun, specs_of(args)), args, false, fun_vjp);
  };
}

}  // namespace lowtide
