// Element types, copies, and dependencies between arrays.
#include <cmath>

#include "arrays/support.h"
#include "lowtide/ops.h"

namespace lowtide {

using namespace lazy;

array astype(array a, Dtype dtype, StreamOrDevice s) { return as_type(a, dtype, s); }
array view(const array& a, const Dtype& dtype, StreamOrDevice s) {
  if (a.dtype().val == dtype.val) return a;
  if (dtype.val == Dtype::Val::bool_) {  // booleans must be bytes 0 or 1
    const array bytes = view(a, uint8, s);
    return not_equal(bytes, zeros_like(bytes, s), s);
  }
  const auto raw = [&](const array& x) {  // booleans are bytes
    return x.dtype().val == Dtype::Val::bool_ ? elementwise(Op::kConvert, {x}, uint8, s) : x;
  };
  const array from = raw(a);
  const int64_t old_size = from.dtype().size(), new_size = dtype.size();
  if (from.dtype().val == Dtype::Val::complex64 || dtype.val == Dtype::Val::complex64) {
    if (dtype.val == Dtype::Val::complex64) {
      const array pairs = view(from, float32, s);
      if (pairs.ndim() == 0 || pairs.shape(-1) % 2)
        fault("view", "found a last dimension of {} bytes, expected whole elements of {}",
              from.ndim() ? from.shape(-1) * old_size : old_size, dtype_to_string(dtype));
      Shape apart = pairs.shape();
      apart.back() /= 2;
      Shape shape = apart;
      apart.push_back(2);
      const array both = reshape_to(pairs, apart, s);
      return elementwise(Op::kComplex, {take(both, 0, -1, s), take(both, 1, -1, s)}, complex64, s);
    }
    const array both = stack({real(from, s), imag(from, s)}, -1, s);
    Shape shape = from.shape();
    if (shape.empty()) shape.push_back(1);
    shape.back() *= 2;
    return view(reshape_to(both, shape, s), dtype, s);
  }
  if (old_size == new_size) return elementwise(Op::kBitcast, {from}, dtype, s);
  if (from.ndim() == 0)
    fault("view", "found a scalar of {} bytes, expected elements as large as those of {}", old_size,
          dtype_to_string(dtype));
  // Converts through unsigned integers of both sizes, byte by byte.
  const auto word = [](int64_t size) { return size == 1 ? uint8 : size == 2 ? uint16 : size == 4 ? uint32 : uint64; };
  const array words =
      issubdtype(from.dtype(), unsignedinteger) ? from : elementwise(Op::kBitcast, {from}, word(old_size), s);
  array made = words;
  Shape shape = from.shape();
  if (old_size > new_size) {
    const int64_t parts = old_size / new_size;
    Shape wide = shape;
    wide.push_back(parts);
    const array spread = broadcast_in(words, wide, all_axes(shape.size()), s);
    const array by = counter(wide, word(old_size), static_cast<int64_t>(shape.size()), s) *
                     constant(static_cast<double>(8 * new_size), word(old_size), {}, s);
    const array cut = right_shift(spread, by, s) &
                      constant(std::ldexp(1.0, static_cast<int>(8 * new_size)) - 1, word(old_size), {}, s);
    shape.back() *= parts;
    made = reshape_to(as_type(cut, word(new_size), s), shape, s);
  } else {
    const int64_t parts = new_size / old_size;
    if (shape.back() % parts)
      fault("view", "found a last dimension of {} bytes, expected whole elements of {}", shape.back() * old_size,
            dtype_to_string(dtype));
    shape.back() /= parts;
    Shape apart = shape;
    apart.push_back(parts);
    const array wide = as_type(reshape_to(words, apart, s), word(new_size), s);
    const array by = counter(apart, word(new_size), static_cast<int64_t>(shape.size()), s) *
                     constant(static_cast<double>(8 * old_size), word(new_size), {}, s);
    made = reduce(left_shift(wide, by, s), Reducer::kSum, {static_cast<int64_t>(shape.size())}, s);
  }
  return dtype.val == made.dtype().val ? made : elementwise(Op::kBitcast, {made}, dtype, s);
}
array copy(array a, StreamOrDevice s) { return elementwise(Op::kSameValue, a, s); }
array contiguous(const array& a, bool, StreamOrDevice) { return a; }
array stop_gradient(const array& a, StreamOrDevice s) { return elementwise(Op::kStopGradient, a, s); }

namespace lazy {
namespace {

/// The first of its inputs, available only when all of them are computed.
class Depends final : public Primitive {
 public:
  explicit Depends(size_t outputs) : outputs_(outputs) {}
  std::string_view name() const override { return "depends"; }
  void describe(Key& key) const override { key.number(static_cast<int64_t>(outputs_)); }
  std::vector<Term> lower(Lowering& to, const std::vector<Term>& in, const std::vector<Spec>&) const override {
    std::vector<Spec> all;
    for (const Term& term : in) all.push_back({term.shape, term.dtype});
    Term together;
    together.value = to.tuple(in);
    std::vector<Term> results = to.add_tuple("opt-barrier", {together}, {}, all);
    results.resize(outputs_);
    return results;
  }
  Gradients vjp(const Backward& b) const override {
    Gradients gradients(b.cotangents.begin(), b.cotangents.end());
    gradients.resize(b.inputs.size());
    return gradients;
  }
  std::vector<array> vmap(const Batch& batch) const override {
    std::vector<array> inputs = batch.inputs;
    std::vector<Spec> specs;
    for (size_t o = 0; o < outputs_; ++o) {
      inputs[o] = with_batch(inputs[o], batch.batched[o], batch.count);
      specs.push_back({inputs[o].shape(), inputs[o].dtype()});
    }
    return apply_all(std::make_shared<Depends>(outputs_), std::move(inputs), std::move(specs));
  }

 private:
  size_t outputs_;
};

}  // namespace
}  // namespace lazy

std::vector<array> depends(const std::vector<array>& inputs, const std::vector<array>& dependencies) {
  if (inputs.empty() || dependencies.empty()) return inputs;
  std::vector<Spec> specs;
  for (const array& input : inputs) specs.push_back({input.shape(), input.dtype()});
  std::vector<array> all = inputs;
  all.insert(all.end(), dependencies.begin(), dependencies.end());
  return apply_all(std::make_shared<Depends>(inputs.size()), std::move(all), std::move(specs),
                   Stream{inputs[0].state()->stream});
}

array to_fp8(array x, StreamOrDevice s) {
  if (!issubdtype(x.dtype(), floating)) fault("to_fp8", "found {}, expected floats", dtype_to_string(x.dtype()));
  const auto word = [&](uint32_t value) { return constant(value, uint32, {}, s); };
  const array wide = as_type(x, float32, s), bits = view(wide, uint32, s);
  const array size = abs(wide, s), most = constant(448, float32, {}, s);
  const array bounded = where(less(size, most, s), size, most, s);  // NaN becomes `most`, as it isn't less
  // Below 2^-6, multiples of 2^-9; from there on the fraction is rounded from 23 to three bits.
  const array small = as_type(round(bounded * constant(512, float32, {}, s), 0, s), uint32, s);
  const array whole = view(bounded, uint32, s);
  const array rounded = right_shift(whole + word(0x7ffff) + (right_shift(whole, word(20), s) & word(1)), word(20), s);
  const array code = where(less(bounded, constant(0x1p-6, float32, {}, s), s), small, rounded - word(120U << 3), s);
  return as_type(code | (right_shift(bits, word(24), s) & word(0x80)), uint8, s);
}
array from_fp8(array x, Dtype dtype, StreamOrDevice s) {
  if (x.dtype().val != Dtype::Val::uint8) fault("from_fp8", "found {}, expected uint8", dtype_to_string(x.dtype()));
  if (!issubdtype(dtype, floating)) fault("from_fp8", "found {}, expected floats", dtype_to_string(dtype));
  const auto word = [&](uint32_t value) { return constant(value, uint32, {}, s); };
  const array code = as_type(x, uint32, s), size = code & word(0x7f);
  const array normal = view(left_shift(size, word(20), s) + word(120U << 23), float32, s);
  const array small = as_type(size, float32, s) * constant(0x1p-9, float32, {}, s);
  const array value = where(less(size, word(8), s), small, normal, s);
  const array number = where(equal(size, word(0x7f), s), constant(NAN, float32, {}, s), value, s);
  return as_type(where(less(code, word(0x80), s), number, negative(number, s), s), dtype, s);
}

}  // namespace lowtide
