// Loops and branches: traced functions become functions of the program; the arrays that they capture ("held") are
// passed to them.
#include "lowtide/control.h"

#include <algorithm>

#include "arrays/functions.h"
#include "arrays/runtime.h"
#include "arrays/support.h"
#include "lowtide/ops.h"

namespace lowtide {

using namespace lazy;

namespace {

std::vector<array> joined(std::vector<array> first, const std::vector<array>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}
template <class T>
std::vector<T> part(const std::vector<T>& all, size_t from, size_t count) {
  return {all.begin() + static_cast<int64_t>(from), all.begin() + static_cast<int64_t>(from + count)};
}

void check_alike(std::string_view name, const char* what, const std::vector<array>& found,
                 const std::vector<array>& expected) {
  if (found.size() != expected.size()) fault(name, "found {} {}, expected {}", found.size(), what, expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i].shape() != expected[i].shape() || found[i].dtype().val != expected[i].dtype().val)
      fault(name, "found {} {} of {} and shape {}, expected {} and {}", what, i, dtype_to_string(found[i].dtype()),
            to_string(found[i].shape()), dtype_to_string(expected[i].dtype()), to_string(expected[i].shape()));
  }
}

/// The function's outputs for these inputs, as part of the graph that is being built.
std::vector<array> at_inputs(const Function& function, const std::vector<array>& inputs) {
  return substitute(function.inputs, function.outputs, inputs);
}

std::vector<Spec> specs_of_terms(const std::vector<Term>& terms) {
  std::vector<Spec> specs;
  for (const Term& term : terms) specs.push_back({term.shape, term.dtype});
  return specs;
}

// ---- while

class While final : public Primitive {
 public:
  While(Function cond, Function body, size_t values, size_t of_cond)
      : cond_(std::move(cond)), body_(std::move(body)), values_(values), of_cond_(of_cond) {}
  std::string_view name() const override { return "while"; }
  void describe(Key& key) const override {
    key.number(static_cast<int64_t>(of_cond_));
    key.text(cond_.key);
    key.text(body_.key);
  }
  std::vector<Term> lower(Lowering& to, const std::vector<Term>& in, const std::vector<Spec>&) const override {
    const std::vector<Spec> specs = specs_of_terms(in);
    auto cond = to.nested("condition");
    const auto given = cond.lowering->tuple_parameter(specs);
    std::vector<Term> of_cond = part(given, 0, values_ + of_cond_);
    cond.lowering->finish(cond.lowering->inlined(cond_.inputs, cond_.outputs, of_cond));
    auto body = to.nested("body");
    const auto carried = body.lowering->tuple_parameter(specs);
    std::vector<Term> of_body = part(carried, 0, values_), rest = part(carried, values_, carried.size() - values_);
    const std::vector<Term> held = part(carried, values_ + of_cond_, carried.size() - values_ - of_cond_);
    of_body.insert(of_body.end(), held.begin(), held.end());
    std::vector<Term> next = body.lowering->inlined(body_.inputs, body_.outputs, of_body);
    next.insert(next.end(), rest.begin(), rest.end());
    body.lowering->finish_tuple(next);
    auto made = to.loop(in, cond.name, body.name);
    made.resize(values_);
    return made;
  }
  /// There is no reverse-mode derivative. In forward mode (jvp) the result is only transposed: it is TangentsBack, the
  /// transpose of a loop that carries tangents in addition to the values.
  Gradients vjp(const Backward& b) const override;
  /// The outputs' tangents, given the inputs' tangents.
  std::vector<array> tangents(const std::vector<array>& inputs, const std::vector<array>& of_inputs) const {
    // Carried: the values, then the tangents of the floats among them.
    std::vector<size_t> floats;
    for (size_t v = 0; v < values_; ++v) {
      if (issubdtype(inputs[v].dtype(), inexact)) floats.push_back(v);
    }
    std::vector<array> init = part(inputs, 0, values_);
    for (const size_t v : floats) init.push_back(of_inputs[v]);
    const size_t held = values_ + of_cond_, count = inputs.size() - held;
    const auto goes_on = [&](const std::vector<array>& now) {
      return at_inputs(cond_, joined(part(now, 0, values_), part(inputs, values_, of_cond_)))[0];
    };
    const auto trip = [&](const std::vector<array>& now) {
      std::vector<array> of_now;
      for (size_t v = 0, next = values_; v < values_; ++v)
        of_now.push_back(next < now.size() && floats[next - values_] == v ? now[next++] : zeros_like(now[v]));
      const auto body = [&](const std::vector<array>& in) { return at_inputs(body_, in); };
      const auto [values, slopes] = jvp(body, joined(part(now, 0, values_), part(inputs, held, count)),
                                        joined(of_now, part(of_inputs, held, count)));
      std::vector<array> next = values;
      for (const size_t v : floats) next.push_back(slopes[v]);
      return next;
    };
    const std::vector<array> last = while_loop(goes_on, trip, init);
    std::vector<array> made;
    for (size_t v = 0, next = values_; v < values_; ++v)
      made.push_back(next < last.size() && floats[next - values_] == v ? last[next++] : zeros_like(last[v]));
    return made;
  }
  std::vector<array> vmap(const Batch& batch) const override {
    std::vector<array> init;
    for (size_t i = 0; i < batch.inputs.size(); ++i)
      init.push_back(with_batch(batch.inputs[i], batch.batched[i], batch.count));
    const std::vector<bool> all_of_cond(cond_.inputs.size(), true), all_of_body(body_.inputs.size(), true);
    const auto goes_on = [&](const std::vector<array>& now) {
      auto [made, has] =
          batched_graph(cond_.inputs, cond_.outputs, part(now, 0, values_ + of_cond_), all_of_cond, batch.count);
      return with_batch(made[0], has[0], batch.count);
    };
    const auto body = [&](const std::vector<array>& now) {
      std::vector<array> inputs = part(now, 0, values_);
      const size_t held = values_ + of_cond_;
      inputs = joined(std::move(inputs), part(now, held, now.size() - held));
      auto [made, has] = batched_graph(body_.inputs, body_.outputs, inputs, all_of_body, batch.count);
      const array open = goes_on(now);
      std::vector<array> next;
      for (size_t v = 0; v < values_; ++v) {
        const array value = with_batch(made[v], has[v], batch.count);
        next.push_back(
            elementwise(Op::kSelect, {broadcast_in(open, value.shape(), {0}), value, now[v]}, value.dtype()));
      }
      return joined(std::move(next), part(now, values_, now.size() - values_));
    };
    std::vector<array> made = while_loop([&](const std::vector<array>& now) { return any(goes_on(now)); }, body, init);
    made.resize(values_, made.front());
    return made;
  }

 private:
  Function cond_, body_;
  size_t values_, of_cond_;  ///< numbers of carried values and of arrays held by the condition; the body's follow
};

constexpr const char* kNoGradient =
    "while_loop: found a derivative of a loop whose number of trips isn't known; scan has one, and jvp works";

/// Maps a loop's inputs and the cotangents of its outputs to its inputs' cotangents. It is only transposed, never run.
class TangentsBack final : public Primitive {
 public:
  TangentsBack(std::shared_ptr<const While> loop, size_t inputs) : loop_(std::move(loop)), inputs_(inputs) {}
  std::string_view name() const override { return "tangents_back"; }
  std::vector<Term> lower(Lowering&, const std::vector<Term>&, const std::vector<Spec>&) const override {
    throw std::runtime_error(kNoGradient);
  }
  Gradients vjp(const Backward& b) const override {
    Gradients made(inputs_);
    for (array& tangent : loop_->tangents(part(b.inputs, 0, inputs_), b.cotangents)) made.push_back(std::move(tangent));
    return made;
  }
  std::vector<array> vmap(const Batch&) const override { throw std::runtime_error(kNoGradient); }

 private:
  std::shared_ptr<const While> loop_;
  size_t inputs_;
};

Gradients While::vjp(const Backward& b) const {
  if (!this_thread().forwards) throw std::runtime_error(kNoGradient);
  const auto back = std::make_shared<TangentsBack>(std::make_shared<While>(*this), b.inputs.size());
  Gradients made;
  for (array& gradient : apply_all(back, joined(b.inputs, b.cotangents), specs_of(b.inputs)))
    made.push_back(std::move(gradient));
  return made;
}

// ---- scan

struct ScanShape {
  size_t carries = 0, slices = 0, results = 0;
  int64_t length = 0;
  bool reverse = false;
};

std::vector<array> scan_all(const Function& body, const std::vector<array>& inputs, const ScanShape& shape);

/// Inputs: carries, xs, arrays held by the body. Outputs: carries, ys, and the carries at the beginning of each
/// iteration, which cost nothing unless they are read.
class Scan final : public Primitive {
 public:
  Scan(Function body, ScanShape shape) : body_(std::move(body)), shape_(shape) {}
  std::string_view name() const override { return "scan"; }
  void describe(Key& key) const override {
    key.number(static_cast<int64_t>(shape_.carries));
    key.number(static_cast<int64_t>(shape_.slices));
    key.number(shape_.length);
    key.number(shape_.reverse);
    key.text(body_.key);
  }
  std::vector<Term> lower(Lowering& to, const std::vector<Term>& in, const std::vector<Spec>& out) const override {
    // (trip, carries, ys, saved carries; xs, held)
    std::vector<Term> init = {to.constant(0, int32)};
    for (size_t k = 0; k < shape_.carries; ++k) init.push_back(in[k]);
    for (size_t k = shape_.carries; k < out.size(); ++k) init.push_back(to.constant(0, out[k].dtype, out[k].shape));
    const size_t changing = init.size();
    for (size_t k = shape_.carries; k < in.size(); ++k) init.push_back(in[k]);
    const std::vector<Spec> specs = specs_of_terms(init);

    auto cond = to.nested("condition");
    const Term at_cond = cond.lowering->tuple_parameter(specs)[0];
    cond.lowering->finish({at_cond < cond.lowering->constant(static_cast<double>(shape_.length), int32)});

    auto body = to.nested("body");
    Lowering& f = *body.lowering;
    const std::vector<Term> now = f.tuple_parameter(specs);
    const Term place = shape_.reverse ? f.constant(static_cast<double>(shape_.length - 1), int32) - now[0] : now[0];
    const auto starts = [&](const Term& whole) {
      std::vector<Term> made(whole.shape.size(), f.constant(0, int32));
      made[0] = place;
      return made;
    };
    std::vector<Term> inputs = part(now, 1, shape_.carries);
    for (size_t k = 0; k < shape_.slices; ++k) {
      const Term& whole = now[changing + k];
      Shape one = whole.shape;
      one[0] = 1;
      std::vector<Term> operands = {whole};
      for (const Term& start : starts(whole)) operands.push_back(start);
      const Term slice = f.add("dynamic-slice", operands, {{"dynamic_slice_sizes", list_text(one)}}, one, whole.dtype);
      inputs.push_back(f.reshape(slice, Shape(one.begin() + 1, one.end())));
    }
    for (size_t k = changing + shape_.slices; k < now.size(); ++k) inputs.push_back(now[k]);
    const std::vector<Term> made = f.inlined(body_.inputs, body_.outputs, inputs);
    std::vector<Term> next = {now[0] + 1};
    for (size_t k = 0; k < shape_.carries; ++k) next.push_back(made[k]);
    for (size_t k = 0; k < shape_.results + shape_.carries; ++k) {
      const Term& stack = now[1 + shape_.carries + k];
      const Term& value = k < shape_.results ? made[shape_.carries + k] : now[1 + k - shape_.results];
      Shape one = value.shape;
      one.insert(one.begin(), 1);
      std::vector<Term> operands = {stack, f.reshape(value, one)};
      for (const Term& start : starts(stack)) operands.push_back(start);
      next.push_back(f.add("dynamic-update-slice", operands, {}, stack.shape, stack.dtype));
    }
    for (size_t k = changing; k < now.size(); ++k) next.push_back(now[k]);
    f.finish_tuple(next);
    return part(to.loop(init, cond.name, body.name), 1, out.size());
  }

  Gradients vjp(const Backward& b) const override {
    const size_t carries = shape_.carries, slices = shape_.slices, results = shape_.results;
    const std::vector<array> xs = part(b.inputs, carries, slices);
    const size_t held_from = carries + slices;
    const std::vector<array> held = part(b.inputs, held_from, b.inputs.size() - held_from);
    const std::vector<array> saved = part(b.outputs, carries + results, carries);
    // Each iteration of the backward scan gets its slices, the carries at its beginning, and its results' cotangents.
    std::vector<array> init = part(b.cotangents, 0, carries);
    for (const array& h : held) init.push_back(zeros_like(h));
    std::vector<array> along = joined(xs, saved);
    along = joined(std::move(along), part(b.cotangents, carries, results + carries));
    const auto trip = [&](const std::vector<array>& carry, const std::vector<array>& x) {
      std::vector<array> inputs = part(x, slices, carries);
      inputs = joined(std::move(inputs), part(x, 0, slices));
      inputs = joined(std::move(inputs), held);
      for (array& input : inputs) input = elementwise(Op::kSameValue, input);
      const std::vector<array> outputs = at_inputs(body_, inputs);
      const std::vector<array> cotangents = joined(part(carry, 0, carries), part(x, slices + carries, results));
      const std::vector<array> made = or_zeros(backwards(inputs, outputs, cotangents), inputs);
      std::vector<array> next, slopes = part(made, carries, slices);
      for (size_t k = 0; k < carries; ++k) {
        const array& beside = x[slices + carries + results + k];  // the saved carry's own cotangent
        next.push_back(issubdtype(beside.dtype(), inexact) ? made[k] + beside : beside);
      }
      for (size_t h = 0; h < held.size(); ++h) {
        const array& sum = carry[carries + h];
        next.push_back(issubdtype(sum.dtype(), inexact) ? sum + made[held_from + h] : sum);
      }
      return std::pair(next, slopes);
    };
    const auto [last, slopes] = scan(trip, init, along, shape_.length, !shape_.reverse);
    Gradients gradients;
    for (size_t k = 0; k < carries; ++k) gradients.push_back(last[k]);
    for (const array& slope : slopes) gradients.push_back(slope);
    for (size_t h = 0; h < held.size(); ++h) gradients.push_back(last[carries + h]);
    return gradients;
  }

  std::vector<array> vmap(const Batch& batch) const override {
    std::vector<array> inputs;
    std::vector<bool> has = batch.batched;
    for (size_t i = 0; i < batch.inputs.size(); ++i) {
      if (i < shape_.carries) {
        inputs.push_back(with_batch(batch.inputs[i], batch.batched[i], batch.count));
        has[i] = true;
      } else if (i < shape_.carries + shape_.slices && batch.batched[i]) {
        inputs.push_back(moveaxis(batch.inputs[i], 1, 0));
      } else {
        inputs.push_back(batch.inputs[i]);
      }
    }
    std::vector<array> made = scan_all(batched_function(body_, has, batch.count), inputs, shape_);
    for (size_t k = shape_.carries; k < made.size(); ++k) made[k] = moveaxis(made[k], 1, 0);
    return made;
  }

 private:
  Function body_;
  ScanShape shape_;
};

std::vector<array> scan_all(const Function& body, const std::vector<array>& inputs, const ScanShape& shape) {
  std::vector<Spec> specs;
  const auto stacked = [&](const array& one) {
    Spec spec{one.shape(), one.dtype()};
    spec.shape.insert(spec.shape.begin(), shape.length);
    return spec;
  };
  for (size_t k = 0; k < shape.carries; ++k) specs.push_back({inputs[k].shape(), inputs[k].dtype()});
  for (size_t k = 0; k < shape.results; ++k) specs.push_back(stacked(body.outputs[shape.carries + k]));
  for (size_t k = 0; k < shape.carries; ++k) specs.push_back(stacked(inputs[k]));
  return apply_all(std::make_shared<Scan>(body, shape), inputs, specs);
}

// ---- cond

class Cond final : public Primitive {
 public:
  Cond(Function on_true, Function on_false, size_t operands, size_t of_true)
      : on_true_(std::move(on_true)), on_false_(std::move(on_false)), operands_(operands), of_true_(of_true) {}
  std::string_view name() const override { return "cond"; }
  void describe(Key& key) const override {
    key.number(static_cast<int64_t>(of_true_));
    key.text(on_true_.key);
    key.text(on_false_.key);
  }
  std::vector<Term> lower(Lowering& to, const std::vector<Term>& in, const std::vector<Spec>& out) const override {
    const auto branch = [&](const Function& function, const char* name, const std::vector<Term>& given) {
      auto made = to.nested(name);
      const auto inputs = made.lowering->tuple_parameter(specs_of_terms(given));
      made.lowering->finish_tuple(made.lowering->inlined(function.inputs, function.outputs, inputs));
      return made.name;
    };
    const std::vector<Term> of_true = inputs_of(in, true), of_false = inputs_of(in, false);
    return to.branch(in[0], of_true, branch(on_true_, "on_true", of_true), of_false,
                     branch(on_false_, "on_false", of_false), out);
  }
  Gradients vjp(const Backward& b) const override {
    const size_t given = b.inputs.size() - 1, cotangents = b.cotangents.size();
    const auto derivative = [&](const Function& function, bool which) {
      return [&, which](const std::vector<array>& in) {
        std::vector<array> all = {b.inputs[0]};
        all = joined(std::move(all), part(in, 0, given));
        std::vector<array> inputs = inputs_of(all, which);
        for (array& input : inputs) input = elementwise(Op::kSameValue, input);
        const auto slopes =
            or_zeros(backwards(inputs, at_inputs(function, inputs), part(in, given, cotangents)), inputs);
        std::vector<array> made;
        for (size_t i = 0; i < given; ++i) made.push_back(zeros_like(in[i]));
        const size_t own = operands_ + (which ? 0 : of_true_);
        for (size_t i = 0; i < slopes.size(); ++i) made[i < operands_ ? i : own + i - operands_] = slopes[i];
        return made;
      };
    };
    std::vector<array> operands = part(b.inputs, 1, given);
    operands = joined(std::move(operands), b.cotangents);
    const auto made = cond(b.inputs[0], derivative(on_true_, true), derivative(on_false_, false), operands);
    Gradients gradients = {std::nullopt};
    gradients.insert(gradients.end(), made.begin(), made.end());
    return gradients;
  }
  std::vector<array> vmap(const Batch& batch) const override {
    const auto batched = [&](const Function& function, bool which, const std::vector<array>& all) {
      auto [made, has] = batched_graph(function.inputs, function.outputs, inputs_of(all, which),
                                       inputs_of(batch.batched, which), batch.count);
      for (size_t o = 0; o < made.size(); ++o) made[o] = with_batch(made[o], has[o], batch.count);
      return made;
    };
    if (!batch.batched[0]) {
      const auto of = [&](const Function& function, bool which) {
        return [&, which](const std::vector<array>& operands) {
          return batched(function, which, joined({batch.inputs[0]}, operands));
        };
      };
      return cond(batch.inputs[0], of(on_true_, true), of(on_false_, false),
                  part(batch.inputs, 1, batch.inputs.size() - 1));
    }
    const auto yes = batched(on_true_, true, batch.inputs), no = batched(on_false_, false, batch.inputs);
    std::vector<array> made;
    for (size_t o = 0; o < yes.size(); ++o)
      made.push_back(elementwise(Op::kSelect, {broadcast_in(batch.inputs[0], yes[o].shape(), {0}), yes[o], no[o]},
                                 yes[o].dtype()));
    return made;
  }

 private:
  /// One branch's inputs among (pred, operands, held by the first branch, held by the second).
  template <class T>
  std::vector<T> inputs_of(const std::vector<T>& all, bool first) const {
    std::vector<T> made = part(all, 1, operands_);
    const size_t from = 1 + operands_ + (first ? 0 : of_true_);
    const size_t count = first ? of_true_ : all.size() - from;
    made.insert(made.end(), all.begin() + static_cast<int64_t>(from), all.begin() + static_cast<int64_t>(from + count));
    return made;
  }
  Function on_true_, on_false_;
  size_t operands_, of_true_;
};

}  // namespace

std::vector<array> while_loop(const ManyToOne& cond, const ManyToMany& body, const std::vector<array>& init) {
  if (init.empty()) fault("while_loop", "found nothing to carry");
  const std::vector<Spec> specs = specs_of(init);
  const Traced of_cond = trace([&](const std::vector<array>& in) { return std::vector<array>{cond(in)}; }, specs);
  const array& goes_on = of_cond.function.outputs[0];
  if (goes_on.ndim() != 0 || goes_on.dtype().val != Dtype::Val::bool_)
    fault("while_loop", "found a condition of {} and shape {}, expected a boolean scalar",
          dtype_to_string(goes_on.dtype()), to_string(goes_on.shape()));
  const Traced of_body = trace(body, specs);
  check_alike("while_loop", "carry", of_body.function.outputs, init);
  const std::vector<array> inputs = joined(joined(init, of_cond.captured), of_body.captured);
  return apply_all(std::make_shared<While>(of_cond.function, of_body.function, init.size(), of_cond.captured.size()),
                   inputs, specs);
}

std::pair<std::vector<array>, std::vector<array>> scan(const ScanBody& f, const std::vector<array>& init,
                                                       const std::vector<array>& xs, int64_t length, bool reverse) {
  std::vector<Spec> specs = specs_of(init);
  for (const array& x : xs) {
    if (x.ndim() == 0) fault("scan", "found a scalar to go along");
    if (length >= 0 && x.shape(0) != length) fault("scan", "found extents {} and {} to go along", length, x.shape(0));
    length = x.shape(0);
    specs.push_back({Shape(x.shape().begin() + 1, x.shape().end()), x.dtype()});
  }
  if (length < 0) fault("scan", "found neither arrays to go along nor a length");
  size_t carries = 0;
  const Traced traced = trace(
      [&](const std::vector<array>& in) {
        const auto [carry, ys] = f(part(in, 0, init.size()), part(in, init.size(), xs.size()));
        carries = carry.size();
        return joined(carry, ys);
      },
      specs);
  if (carries != init.size()) fault("scan", "found {} carries, expected {}", carries, init.size());
  check_alike("scan", "carry", part(traced.function.outputs, 0, carries), init);
  const ScanShape shape{carries, xs.size(), traced.function.outputs.size() - carries, length, reverse};
  const std::vector<array> made = scan_all(traced.function, joined(joined(init, xs), traced.captured), shape);
  return {part(made, 0, carries), part(made, carries, shape.results)};
}

std::vector<array> cond(const array& pred, const ManyToMany& on_true, const ManyToMany& on_false,
                        const std::vector<array>& operands) {
  if (pred.ndim() != 0 || pred.dtype().val != Dtype::Val::bool_)
    fault("cond", "found a condition of {} and shape {}, expected a boolean scalar", dtype_to_string(pred.dtype()),
          to_string(pred.shape()));
  const Traced yes = trace(on_true, specs_of(operands)), no = trace(on_false, specs_of(operands));
  check_alike("cond", "result", no.function.outputs, yes.function.outputs);
  const std::vector<array> inputs = joined(joined(joined({pred}, operands), yes.captured), no.captured);
  return apply_all(std::make_shared<Cond>(yes.function, no.function, operands.size(), yes.captured.size()), inputs,
                   specs_of(yes.function.outputs));
}

}  // namespace lowtide
