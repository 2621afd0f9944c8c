// Reductions, running folds and sorts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "arrays/primitives.h"
#include "lowtide/ops.h"

namespace lowtide::lazy {
namespace {

/// The dimensions of `rank` that aren't among these.
Dims others(size_t rank, const Dims& dimensions) {
  Dims left;
  for (int64_t d = 0; d < static_cast<int64_t>(rank); ++d) {
    if (std::ranges::find(dimensions, d) == dimensions.end()) left.push_back(d);
  }
  return left;
}

class Reduce final : public Primitive {
 public:
  Reduce(Reducer reducer, Dims dimensions) : reducer_(reducer), dimensions_(std::move(dimensions)) {}
  std::string_view name() const override { return "reduce"; }
  void describe(Key& key) const override {
    key.number(static_cast<int64_t>(reducer_));
    key.numbers(dimensions_);
  }
  std::vector<Term> lower(Lowering& to, const std::vector<Term>& in, const std::vector<Spec>&) const override {
    return {to.reduce(in[0], reducer_, dimensions_)};
  }
  Gradients vjp(const Backward& b) const override {
    const array& x = b.inputs[0];
    const Dims kept = others(x.ndim(), dimensions_);
    const array c = broadcast_in(b.cotangents[0], x.shape(), kept);
    switch (reducer_) {
      case Reducer::kSum: return {c};
      case Reducer::kProduct: {
        // The product of all other elements, from running products from both ends: dividing by x fails where x is 0.
        Dims order = kept;
        order.insert(order.end(), dimensions_.begin(), dimensions_.end());
        const array lines = permute(x, order);
        Shape flat;
        for (const int64_t d : kept) flat.push_back(x.shape()[at(d)]);
        flat.push_back(-1);
        const array line = reshape(lines, flat);
        const array rest = cumprod(line, -1, false, false) * cumprod(line, -1, true, false);
        Dims back(order.size());
        for (size_t d = 0; d < order.size(); ++d) back[at(order[d])] = static_cast<int64_t>(d);
        return {c * permute(reshape_to(rest, lines.shape()), back)};
      }
      case Reducer::kMaximum:
      case Reducer::kMinimum: {
        const array is_it = astype(equal(x, broadcast_in(b.outputs[0], x.shape(), kept)), c.dtype());
        const array count = broadcast_in(reduce(is_it, Reducer::kSum, dimensions_), x.shape(), kept);
        return {c * is_it / count};
      }
      default: return {std::nullopt};
    }
  }
  std::vector<array> vmap(const Batch& batch) const override {
    return {reduce(batch.inputs[0], reducer_, shifted(dimensions_))};
  }

 private:
  Reducer reducer_;
  Dims dimensions_;
};

/// The index of the largest or smallest element: the first of equal ones, or the first NaN if there is one.
class ArgReduce final : public Primitive {
 public:
  ArgReduce(int64_t dimension, bool most) : dimension_(dimension), most_(most) {}
  std::string_view name() const override { return "arg_reduce"; }
  void describe(Key& key) const override {
    key.number(dimension_);
    key.number(most_);
  }
  std::vector<Term> lower(Lowering& to, const std::vector<Term>& in, const std::vector<Spec>& out) const override {
    const Term& a = in[0];
    auto function = to.nested(most_ ? "argmax" : "argmin");
    Lowering& f = *function.lowering;
    const Term x = f.parameter({}, a.dtype), i = f.parameter({}, uint32), y = f.parameter({}, a.dtype),
               j = f.parameter({}, uint32);
    Term better = f.compare(x, y, most_ ? "GT" : "LT");
    if (issubdtype(a.dtype, floating)) better = better | f.compare(x, x, "NE");
    const Term same = f.compare(x, y, "EQ") & f.compare(i, j, "LT");
    const Term first = better | same;
    f.finish({f.select(better, x, y), f.select(first, i, j)});
    const Term start = to.start_of(most_ ? Reducer::kMaximum : Reducer::kMinimum, a.dtype);
    const Spec value{out[0].shape, a.dtype};
    return {to.add_tuple("reduce", {a, to.iota(a.shape, uint32, dimension_), start, to.bits(0xffffffff, uint32)},
                         {{"dimensions", list_text({dimension_})}, {"to_apply", function.name}}, {value, out[0]})[1]};
  }
  Gradients vjp(const Backward&) const override { return {std::nullopt}; }
  std::vector<array> vmap(const Batch& batch) const override {
    return {arg_reduce(batch.inputs[0], dimension_ + 1, most_)};
  }

 private:
  int64_t dimension_;
  bool most_;
};

class RunningFold final : public Primitive {
 public:
  RunningFold(Running fold, int64_t dimension, bool backwards)
      : fold_(fold), dimension_(dimension), backwards_(backwards) {}
  std::string_view name() const override { return "running"; }
  void describe(Key& key) const override {
    key.number(static_cast<int64_t>(fold_));
    key.number(dimension_);
    key.number(backwards_);
  }
  std::vector<Term> lower(Lowering& to, const std::vector<Term>& in, const std::vector<Spec>& out) const override {
    const Term& a = in[0];
    const int64_t extent = a.shape[at(dimension_)];
    std::string size, pad;
    for (int64_t d = 0; d < static_cast<int64_t>(a.shape.size()); ++d) {
      const bool here = d == dimension_;
      size += fmt::format("{}{}", d ? "x" : "", here ? extent : 1);
      pad +=
          fmt::format("{}{}", d ? "x" : "",
                      here ? (backwards_ ? fmt::format("0_{}", extent - 1) : fmt::format("{}_0", extent - 1)) : "0_0");
    }
    const auto reducer = static_cast<Reducer>(fold_);
    const Term start = to.start_of(reducer, a.dtype);
    return {
        to.add("reduce-window", {a, start},
               {{"window", fmt::format("{{size={} pad={}}}", size, pad)}, {"to_apply", to.reducer(reducer, a.dtype)}},
               out[0].shape, out[0].dtype)};
  }
  Gradients vjp(const Backward& b) const override {
    const array &c = b.cotangents[0], &x = b.inputs[0], &y = b.outputs[0];
    switch (fold_) {
      case Running::kSum: return {running(c, Running::kSum, dimension_, !backwards_)};
      case Running::kProduct: {
        // dy[j]/dx[i] is the product of all x[k] up to j except x[i]: y[j] / x[i] where x[i] isn't 0, otherwise a
        // product that restarts after i.
        const array zero = equal(x, zeros_like(x));
        const array ones = where(zero, ones_like(x), x);
        const array zeros_so_far = running(astype(zero, int32), Running::kSum, dimension_, backwards_);
        const array whole = running(ones, Running::kProduct, dimension_, backwards_);
        const array none_before = where(equal(zeros_so_far, zeros_like(zeros_so_far)), whole, zeros_like(y));
        const array one_before = where(equal(zeros_so_far, ones_like(zeros_so_far)), whole, zeros_like(y));
        const array sums = running(c * none_before, Running::kSum, dimension_, !backwards_);
        const array sums_of_zero = running(c * one_before, Running::kSum, dimension_, !backwards_);
        return {
            where(zero, where(equal(zeros_so_far, ones_like(zeros_so_far)), sums_of_zero, zeros_like(y)), sums / ones)};
      }
      case Running::kMaximum:
      case Running::kMinimum: {
        // Each result is one of the elements: the latest one that became the extreme.
        const array place = counter(x.shape(), int32, dimension_);
        const array mine = equal(x, y);
        const int64_t extent = x.shape()[at(dimension_)];
        const array from = running(where(mine, place, full_like(place, backwards_ ? extent : -1)),
                                   backwards_ ? Running::kMinimum : Running::kMaximum, dimension_, backwards_);
        return {scatter_add_axis(zeros_like(x), from, c, static_cast<int>(dimension_))};
      }
    }
    return {std::nullopt};
  }
  std::vector<array> vmap(const Batch& batch) const override {
    return {running(batch.inputs[0], fold_, dimension_ + 1, backwards_)};
  }

 private:
  Running fold_;
  int64_t dimension_;
  bool backwards_;
};

class SortBy final : public Primitive {
 public:
  explicit SortBy(int64_t dimension) : dimension_(dimension) {}
  std::string_view name() const override { return "sort"; }
  void describe(Key& key) const override { key.number(dimension_); }
  std::vector<Term> lower(Lowering& to, const std::vector<Term>& in, const std::vector<Spec>& out) const override {
    auto function = to.nested("ascending");
    Lowering& f = *function.lowering;
    std::vector<Term> pairs;
    for (const Term& operand : in) {
      pairs.push_back(f.parameter({}, operand.dtype));
      pairs.push_back(f.parameter({}, operand.dtype));
    }
    if (issubdtype(in[0].dtype, floating)) {
      const auto canonical = [&](const Term& x) {
        const Term zero = f.constant(0, x.dtype), nan = f.constant(NAN, x.dtype);
        return f.select(f.compare(x, x, "NE"), nan, f.select(f.compare(x, zero, "EQ"), zero, x));
      };
      f.finish({f.add("compare", {canonical(pairs[0]), canonical(pairs[1])},
                      {{"direction", "LT"}, {"type", "TOTALORDER"}}, {}, bool_)});
    } else {
      f.finish({f.compare(pairs[0], pairs[1], "LT")});
    }
    const Attributes attributes = {
        {"dimensions", list_text({dimension_})}, {"is_stable", "true"}, {"to_apply", function.name}};
    if (in.size() == 1) return {to.add("sort", in, attributes, out[0].shape, out[0].dtype)};
    return to.add_tuple("sort", in, attributes, out);
  }
  Gradients vjp(const Backward& b) const override {
    const array& keys = b.inputs[0];
    const array order = sort_by({keys, counter(keys.shape(), uint32, dimension_)}, dimension_)[1];
    const array back = sort_by({order, counter(keys.shape(), uint32, dimension_)}, dimension_)[1];
    Gradients gradients(b.inputs.size());
    for (size_t i = 0; i < b.inputs.size(); ++i) {
      if (b.wanted[i] && issubdtype(b.inputs[i].dtype(), inexact))
        gradients[i] = take_along_axis(b.cotangents[i], back, static_cast<int>(dimension_));
    }
    return gradients;
  }
  std::vector<array> vmap(const Batch& batch) const override {
    std::vector<array> inputs;
    for (size_t i = 0; i < batch.inputs.size(); ++i)
      inputs.push_back(with_batch(batch.inputs[i], batch.batched[i], batch.count));
    return sort_by(inputs, dimension_ + 1);
  }

 private:
  int64_t dimension_;
};

}  // namespace

array reduce(const array& a, Reducer reducer, const Dims& dimensions, StreamOrDevice s) {
  if (dimensions.empty()) return a;
  Shape shape;
  for (const int64_t d : others(a.ndim(), dimensions)) shape.push_back(a.shape()[at(d)]);
  return apply(std::make_shared<Reduce>(reducer, dimensions), {a}, std::move(shape), a.dtype(), s);
}

array arg_reduce(const array& a, int64_t dimension, bool most, StreamOrDevice s) {
  Shape shape = a.shape();
  shape.erase(shape.begin() + dimension);
  return apply(std::make_shared<ArgReduce>(dimension, most), {a}, std::move(shape), uint32, s);
}

array running(const array& a, Running fold, int64_t dimension, bool backwards, StreamOrDevice s) {
  if (a.size() == 0) return a;
  return apply(std::make_shared<RunningFold>(fold, dimension, backwards), {a}, a.shape(), a.dtype(), s);
}

std::vector<array> sort_by(const std::vector<array>& arrays, int64_t dimension, StreamOrDevice s) {
  std::vector<Spec> specs;
  for (const array& a : arrays) specs.push_back({a.shape(), a.dtype()});
  return apply_all(std::make_shared<SortBy>(dimension), arrays, std::move(specs), s);
}

}  // namespace lowtide::lazy
