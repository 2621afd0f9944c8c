// Operations that only move elements. The derivative of each is another one of them.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "arrays/primitives.h"
#include "lowtide/ops.h"

namespace lowtide::lazy {
namespace {

class Constant final : public Primitive {
 public:
  explicit Constant(double value) : value_(value) {}
  std::string_view name() const override { return "constant"; }
  void describe(Key& key) const override { key.number(std::bit_cast<int64_t>(value_)); }
  std::vector<Term> lower(Lowering& to, const std::vector<Term>&, const std::vector<Spec>& out) const override {
    return {to.constant(value_, out[0].dtype, out[0].shape)};
  }
  Gradients vjp(const Backward&) const override { return {}; }
  std::vector<array> vmap(const Batch& batch) const override {
    return {constant(value_, batch.outputs[0].dtype, in_front(batch.count, batch.outputs[0].shape))};
  }

 private:
  double value_;
};

class Counter final : public Primitive {
 public:
  explicit Counter(int64_t dimension) : dimension_(dimension) {}
  std::string_view name() const override { return "counter"; }
  void describe(Key& key) const override { key.number(dimension_); }
  std::vector<Term> lower(Lowering& to, const std::vector<Term>&, const std::vector<Spec>& out) const override {
    return {to.iota(out[0].shape, out[0].dtype, dimension_)};
  }
  Gradients vjp(const Backward&) const override { return {}; }
  std::vector<array> vmap(const Batch& batch) const override {
    return {counter(in_front(batch.count, batch.outputs[0].shape), batch.outputs[0].dtype, dimension_ + 1)};
  }

 private:
  int64_t dimension_;
};

class BroadcastIn final : public Primitive {
 public:
  explicit BroadcastIn(Dims dimensions) : dimensions_(std::move(dimensions)) {}
  std::string_view name() const override { return "broadcast"; }
  void describe(Key& key) const override { key.numbers(dimensions_); }
  std::vector<Term> lower(Lowering& to, const std::vector<Term>& in, const std::vector<Spec>& out) const override {
    // HLO's broadcast can't expand extents of 1: these dimensions are removed first.
    Dims kept, extents;
    for (size_t d = 0; d < dimensions_.size(); ++d) {
      if (in[0].shape[d] == 1 && out[0].shape[at(dimensions_[d])] != 1) continue;
      kept.push_back(dimensions_[d]);
      extents.push_back(in[0].shape[d]);
    }
    return {to.broadcast(to.reshape(in[0], extents), out[0].shape, kept)};
  }
  Gradients vjp(const Backward& b) const override {
    const array& c = b.cotangents[0];
    Dims gone;
    for (int64_t d = 0; d < static_cast<int64_t>(c.ndim()); ++d) {
      const auto found = std::ranges::find(dimensions_, d);
      const bool grew = found == dimensions_.end() ||
                        (b.inputs[0].shape()[at(found - dimensions_.begin())] == 1 && c.shape()[at(d)] != 1);
      if (grew) gone.push_back(d);
    }
    return {reshape_to(reduce(c, Reducer::kSum, gone), b.inputs[0].shape())};
  }
  std::vector<array> vmap(const Batch& batch) const override {
    return {broadcast_in(batch.inputs[0], in_front(batch.count, batch.outputs[0].shape),
                         in_front(0, shifted(dimensions_)))};
  }

 private:
  Dims dimensions_;
};

class Reshape final : public Primitive {
 public:
  std::string_view name() const override { return "reshape"; }
  std::vector<Term> lower(Lowering& to, const std::vector<Term>& in, const std::vector<Spec>& out) const override {
    return {to.reshape(in[0], out[0].shape)};
  }
  Gradients vjp(const Backward& b) const override { return {reshape_to(b.cotangents[0], b.inputs[0].shape())}; }
  std::vector<array> vmap(const Batch& batch) const override {
    return {reshape_to(batch.inputs[0], in_front(batch.count, batch.outputs[0].shape))};
  }
  bool is_view() const override { return true; }
};

class Permute final : public Primitive {
 public:
  explicit Permute(Dims permutation) : permutation_(std::move(permutation)) {}
  std::string_view name() const override { return "transpose"; }
  void describe(Key& key) const override { key.numbers(permutation_); }
  std::vector<Term> lower(Lowering& to, const std::vector<Term>& in, const std::vector<Spec>& out) const override {
    return {to.add("transpose", {in[0]}, {{"dimensions", list_text(permutation_)}}, out[0].shape, out[0].dtype)};
  }
  Gradients vjp(const Backward& b) const override {
    Dims back(permutation_.size());
    for (size_t d = 0; d < back.size(); ++d) back[at(permutation_[d])] = static_cast<int64_t>(d);
    return {permute(b.cotangents[0], back)};
  }
  std::vector<array> vmap(const Batch& batch) const override {
    return {permute(batch.inputs[0], in_front(0, shifted(permutation_)))};
  }

 private:
  Dims permutation_;
};

class SliceOf final : public Primitive {
 public:
  SliceOf(Dims starts, Dims stops, Dims strides)
      : starts_(std::move(starts)), stops_(std::move(stops)), strides_(std::move(strides)) {}
  std::string_view name() const override { return "slice"; }
  void describe(Key& key) const override {
    key.numbers(starts_);
    key.numbers(stops_);
    key.numbers(strides_);
  }
  std::vector<Term> lower(Lowering& to, const std::vector<Term>& in, const std::vector<Spec>&) const override {
    return {to.slice(in[0], starts_, stops_, strides_)};
  }
  Gradients vjp(const Backward& b) const override {
    const array& c = b.cotangents[0];
    Dims low = starts_, high, interior;
    for (size_t d = 0; d < starts_.size(); ++d) {
      const int64_t extent = c.shape()[d];
      interior.push_back(strides_[d] - 1);
      const int64_t covered = extent == 0 ? 0 : (extent - 1) * strides_[d] + 1;
      high.push_back(b.inputs[0].shape()[d] - low[d] - covered);
    }
    return {pad_with(c, constant(0, c.dtype()), low, high, interior)};
  }
  std::vector<array> vmap(const Batch& batch) const override {
    return {slice_of(batch.inputs[0], in_front(0, starts_), in_front(batch.count, stops_), in_front(1, strides_))};
  }

 private:
  Dims starts_, stops_, strides_;
};

class UpdateSlice final : public Primitive {
 public:
  explicit UpdateSlice(Dims starts) : starts_(std::move(starts)) {}
  std::string_view name() const override { return "update_slice"; }
  void describe(Key& key) const override { key.numbers(starts_); }
  std::vector<Term> lower(Lowering& to, const std::vector<Term>& in, const std::vector<Spec>& out) const override {
    std::vector<Term> operands = in;
    for (const int64_t start : starts_) operands.push_back(to.constant(static_cast<double>(start), int64));
    return {to.add("dynamic-update-slice", operands, {}, out[0].shape, out[0].dtype)};
  }
  Gradients vjp(const Backward& b) const override {
    const array& c = b.cotangents[0];
    Gradients gradients(2);
    if (b.wanted[0]) gradients[0] = update_slice(c, zeros_like(b.inputs[1]), starts_);
    if (b.wanted[1]) {
      Dims stops = starts_;
      for (size_t d = 0; d < stops.size(); ++d) stops[d] += b.inputs[1].shape()[d];
      gradients[1] = slice_of(c, starts_, stops, Dims(starts_.size(), 1));
    }
    return gradients;
  }
  std::vector<array> vmap(const Batch& batch) const override {
    return {update_slice(with_batch(batch.inputs[0], batch.batched[0], batch.count),
                         with_batch(batch.inputs[1], batch.batched[1], batch.count), in_front(0, starts_))};
  }

 private:
  Dims starts_;
};

class PadWith final : public Primitive {
 public:
  PadWith(Dims low, Dims high, Dims interior)
      : low_(std::move(low)), high_(std::move(high)), interior_(std::move(interior)) {}
  std::string_view name() const override { return "pad"; }
  void describe(Key& key) const override {
    key.numbers(low_);
    key.numbers(high_);
    key.numbers(interior_);
  }
  std::vector<Term> lower(Lowering& to, const std::vector<Term>& in, const std::vector<Spec>& out) const override {
    if (in[0].shape.empty()) return {in[0]};
    std::string text;
    for (size_t d = 0; d < low_.size(); ++d)
      text += fmt::format("{}{}_{}_{}", d ? "x" : "", low_[d], high_[d], interior_[d]);
    return {to.add("pad", in, {{"padding", text}}, out[0].shape, out[0].dtype)};
  }
  Gradients vjp(const Backward& b) const override {
    Gradients gradients(2);
    // The elements that negative padding cut off get zeros.
    Dims starts = low_, stops, strides, cut_low = low_, cut_high = high_;
    for (int64_t& l : starts) l = std::max<int64_t>(l, 0);
    for (int64_t& l : cut_low) l = std::max<int64_t>(-l, 0);
    for (int64_t& h : cut_high) h = std::max<int64_t>(-h, 0);
    const array& given = b.cotangents[0];
    const array c = pad_with(given, constant(0, given.dtype()), cut_low, cut_high, Dims(low_.size(), 0));
    for (size_t d = 0; d < low_.size(); ++d) {
      const int64_t extent = b.inputs[0].shape()[d];
      strides.push_back(interior_[d] + 1);
      stops.push_back(starts[d] + (extent == 0 ? 0 : (extent - 1) * strides[d] + 1));
    }
    const array inner = slice_of(c, starts, stops, strides);
    gradients[0] = inner;
    if (b.wanted[1]) gradients[1] = sum(c) - sum(inner);
    return gradients;
  }
  std::vector<array> vmap(const Batch& batch) const override {
    if (!batch.batched[1])
      return {pad_with(with_batch(batch.inputs[0], batch.batched[0], batch.count), batch.inputs[1], in_front(0, low_),
                       in_front(0, high_), in_front(0, interior_))};
    const array a = with_batch(batch.inputs[0], batch.batched[0], batch.count);
    const array padded =
        pad_with(a, constant(0, a.dtype()), in_front(0, low_), in_front(0, high_), in_front(0, interior_));
    const array inside = pad_with(constant(1, bool_, a.shape()), constant(0, bool_), in_front(0, low_),
                                  in_front(0, high_), in_front(0, interior_));
    return {elementwise(Op::kSelect, {inside, padded, broadcast_in(batch.inputs[1], padded.shape(), {0})}, a.dtype())};
  }

 private:
  Dims low_, high_, interior_;
};

class Join final : public Primitive {
 public:
  explicit Join(int64_t dimension) : dimension_(dimension) {}
  std::string_view name() const override { return "concatenate"; }
  void describe(Key& key) const override { key.number(dimension_); }
  std::vector<Term> lower(Lowering& to, const std::vector<Term>& in, const std::vector<Spec>& out) const override {
    return {to.add("concatenate", in, {{"dimensions", list_text({dimension_})}}, out[0].shape, out[0].dtype)};
  }
  Gradients vjp(const Backward& b) const override {
    const array& c = b.cotangents[0];
    Gradients gradients;
    Dims starts(c.ndim(), 0), stops = c.shape();
    const Dims strides(c.ndim(), 1);
    for (const array& input : b.inputs) {
      stops[at(dimension_)] = starts[at(dimension_)] + input.shape()[at(dimension_)];
      gradients.push_back(slice_of(c, starts, stops, strides));
      starts[at(dimension_)] = stops[at(dimension_)];
    }
    return gradients;
  }
  std::vector<array> vmap(const Batch& batch) const override {
    std::vector<array> inputs;
    for (size_t i = 0; i < batch.inputs.size(); ++i)
      inputs.push_back(with_batch(batch.inputs[i], batch.batched[i], batch.count));
    return {join(inputs, dimension_ + 1)};
  }

 private:
  int64_t dimension_;
};

class Reverse final : public Primitive {
 public:
  explicit Reverse(Dims dimensions) : dimensions_(std::move(dimensions)) {}
  std::string_view name() const override { return "reverse"; }
  void describe(Key& key) const override { key.numbers(dimensions_); }
  std::vector<Term> lower(Lowering& to, const std::vector<Term>& in, const std::vector<Spec>& out) const override {
    return {to.add("reverse", in, {{"dimensions", list_text(dimensions_)}}, out[0].shape, out[0].dtype)};
  }
  Gradients vjp(const Backward& b) const override { return {reverse(b.cotangents[0], dimensions_)}; }
  std::vector<array> vmap(const Batch& batch) const override {
    return {reverse(batch.inputs[0], shifted(dimensions_))};
  }

 private:
  Dims dimensions_;
};

}  // namespace

array constant(double value, Dtype dtype, const Shape& shape, StreamOrDevice s) {
  return apply(std::make_shared<Constant>(value), {}, shape, dtype, s);
}

array counter(const Shape& shape, Dtype dtype, int64_t dimension, StreamOrDevice s) {
  return apply(std::make_shared<Counter>(dimension), {}, shape, dtype, s);
}

array broadcast_in(const array& a, const Shape& shape, const Dims& dimensions, StreamOrDevice s) {
  if (a.shape() == shape) return a;
  return apply(std::make_shared<BroadcastIn>(dimensions), {a}, shape, a.dtype(), s);
}

array reshape_to(const array& a, const Shape& shape, StreamOrDevice s) {
  if (a.shape() == shape) return a;
  static const std::shared_ptr<const Primitive> kReshape = std::make_shared<Reshape>();
  return apply(kReshape, {a}, shape, a.dtype(), s);
}

array permute(const array& a, const Dims& permutation, StreamOrDevice s) {
  if (std::ranges::is_sorted(permutation)) return a;
  Shape shape;
  for (const int64_t d : permutation) shape.push_back(a.shape()[at(d)]);
  return apply(std::make_shared<Permute>(permutation), {a}, std::move(shape), a.dtype(), s);
}

array slice_of(const array& a, const Dims& starts, const Dims& stops, const Dims& strides, StreamOrDevice s) {
  Shape shape;
  for (size_t d = 0; d < starts.size(); ++d)
    shape.push_back(std::max<int64_t>(0, (stops[d] - starts[d] + strides[d] - 1) / strides[d]));
  if (shape == a.shape()) return a;
  return apply(std::make_shared<SliceOf>(starts, stops, strides), {a}, std::move(shape), a.dtype(), s);
}

array pad_with(const array& a, const array& scalar, const Dims& low, const Dims& high, const Dims& interior,
               StreamOrDevice s) {
  Shape shape = a.shape();
  for (size_t d = 0; d < shape.size(); ++d)
    shape[d] = low[d] + high[d] + shape[d] + std::max<int64_t>(0, shape[d] - 1) * interior[d];
  if (shape == a.shape() && std::ranges::all_of(low, [](int64_t l) { return l == 0; })) return a;
  return apply(std::make_shared<PadWith>(low, high, interior), {a, scalar}, std::move(shape), a.dtype(), s);
}

array update_slice(const array& a, const array& update, const Dims& starts, StreamOrDevice s) {
  if (a.shape() == update.shape()) return update;
  return apply(std::make_shared<UpdateSlice>(starts), {a, update}, a.shape(), a.dtype(), s);
}

array join(const std::vector<array>& parts, int64_t dimension, StreamOrDevice s) {
  if (parts.size() == 1) return parts[0];
  Shape shape = parts[0].shape();
  for (size_t p = 1; p < parts.size(); ++p) shape[at(dimension)] += parts[p].shape()[at(dimension)];
  return apply(std::make_shared<Join>(dimension), parts, std::move(shape), parts[0].dtype(), s);
}

array reverse(const array& a, const Dims& dimensions, StreamOrDevice s) {
  if (dimensions.empty()) return a;
  return apply(std::make_shared<Reverse>(dimensions), {a}, a.shape(), a.dtype(), s);
}

}  // namespace lowtide::lazy
