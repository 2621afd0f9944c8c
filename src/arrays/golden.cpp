#include "arrays/golden.h"

#include <cmath>
#include <initializer_list>
#include <optional>

namespace lowtide::lazy {
namespace {

Term f64(const Term& a) { return a.to->convert(a, float64); }
Term f32(const Term& a) { return a.to->convert(a, float32); }
Term s32(const Term& a) { return a.to->convert(a, int32); }
Term bits_of(const Term& a) { return a.to->bitcast(a, uint32); }
Term float_of(const Term& a) { return a.to->bitcast(a, float32); }
Term equal(const Term& a, double value) { return a.to->compare(a, a.to->constant(value, a.dtype, a.shape), "EQ"); }
Term floats(const Term& like, float value) { return like.to->constant(value, float32, like.shape); }
Term select(const Term& condition, const Term& yes, const Term& no) { return condition.to->select(condition, yes, no); }

/// a * b + c, rounded once: kernels make this one instruction (nest/legalise.h). As it is spelt, the sum is rounded to
/// 53 bits and then to 24, which differs if the first yields a tie of the second: about once in 2^29.
Term fused(const Term& a, const Term& b, float c) { return f32(f64(a) * f64(b) + static_cast<double>(c)); }

/// A polynomial by Horner's rule. Coefficients are floats, from the highest power down.
Term horner(const Term& x, std::initializer_list<float> coefficients) {
  const Term wide = f64(x);
  std::optional<Term> sum;
  for (const float c : coefficients) {
    sum = sum ? f32(f64(*sum) * wide + static_cast<double>(c)) : floats(x, c);
  }
  return *sum;
}

/// 1 / c and log(c) for the middle c of each sixteenth of [0.7, 1.4): the table of logf in glibc (and ARM's optimised
/// routines). The results' bits depend on it.
const std::initializer_list<double> kInverse = {
    0x1.661ec79f8f3bep+0, 0x1.571ed4aaf883dp+0, 0x1.49539f0f010bp+0,  0x1.3c995b0b80385p+0, 0x1.30d190c8864a5p+0,
    0x1.25e227b0b8eap+0,  0x1.1bb4a4a1a343fp+0, 0x1.12358f08ae5bap+0, 0x1.0953f419900a7p+0, 0x1p+0,
    0x1.e608cfd9a47acp-1, 0x1.ca4b31f026aap-1,  0x1.b2036576afce6p-1, 0x1.9c2d163a1aa2dp-1, 0x1.886e6037841edp-1,
    0x1.767dcf5534862p-1};
const std::initializer_list<double> kLogarithm = {
    -0x1.57bf7808caadep-2, -0x1.2bef0a7c06ddbp-2, -0x1.01eae7f513a67p-2, -0x1.b31d8a68224e9p-3, -0x1.6574f0ac07758p-3,
    -0x1.1aa2bc79c81p-3,   -0x1.a4e76ce8c0e5ep-4, -0x1.1973c5a611cccp-4, -0x1.252f438e10c1ep-5, 0x0p+0,
    0x1.aa5aa5df25984p-5,  0x1.c5e53aa362eb4p-4,  0x1.526e57720db08p-3,  0x1.bc2860d22477p-3,   0x1.1058bc8a07ee1p-2,
    0x1.4043057b6ee09p-2};

/// table[at] for each element of `at`.
Term look_up(const std::initializer_list<double>& table, const Term& at) {
  Lowering& to = *at.to;
  return to.add("gather", {to.table(table, float64), at},
                {{"offset_dims", "{}"},
                 {"collapsed_slice_dims", "{0}"},
                 {"start_index_map", "{0}"},
                 {"index_vector_dim", std::to_string(at.shape.size())},
                 {"slice_sizes", "{1}"}},
                at.shape, float64);
}

}  // namespace

Term golden_uniform(const Term& words, Dtype dtype) {
  float most = std::nextafter(1.0F, 0.0F);
  if (dtype.val == Dtype::Val::float16) most = 0.99951171875F;
  if (dtype.val == Dtype::Val::bfloat16) most = 0.99609375F;
  const Term share = words.to->convert(words, float32) * 0x1p-32;
  return words.to->binary("minimum", share, floats(share, most));
}

Term golden_log(const Term& x) {
  const Term ix = bits_of(x);
  const Term from = ix - 0x3f330000;
  const Term at = s32(shift_right(from, 19) & ix.to->constant(15, uint32, ix.shape));
  const Term exponent =
      s32(ix.to->binary("shift-right-arithmetic", ix.to->bitcast(from, int32), ix.to->constant(23, int32, ix.shape)));
  const Term z = f64(float_of(ix - (from & ix.to->constant(0xff800000, uint32, ix.shape))));
  const Term r = z * look_up(kInverse, at) - 1;
  const Term y0 = look_up(kLogarithm, at) + f64(exponent) * 0x1.62e42fefa39efp-1;
  const Term r2 = r * r;
  Term y = r * 0x1.5575b0be00b6ap-2 - 0x1.ffffef20a4123p-2;
  y = r2 * -0x1.00ea348b88334p-2 + y;
  y = y * r2 + (y0 + r);
  const Term made = f32(y);
  const Term at_zero = select(equal(x, 0), floats(x, -INFINITY), made);
  const Term at_infinity = select(equal(x, INFINITY), x, at_zero);
  return select(x < 0, floats(x, NAN), at_infinity);
}

Term golden_log1p(const Term& x) {
  Lowering& to = *x.to;
  const auto words = [&](uint32_t value) { return to.bits(value, uint32, x.shape); };
  // Near 0, f = x; elsewhere 1 + x = 2^k (1 + f), and c is the rounding error of 1 + x.
  const Term small = to.compare(to.bitcast(x, int32), to.bits(0xbe95f61f, int32, x.shape), "LE");
  const Term sum = x + 1;
  const Term mantissa = bits_of(sum) & words(0x7fffff);
  const Term low = to.compare(mantissa, words(0x3504f7), "LT");
  const Term k0 = s32(shift_right(bits_of(sum), 23)) - 127;
  const Term k = select(small, to.constant(0, int32, x.shape), select(low, k0, k0 + 1));
  const Term lost = select(k > 0, floats(x, 1) - (sum - x), x - (sum - 1)) / sum;
  const Term scaled = float_of(select(low, mantissa | words(0x3f800000), mantissa | words(0x3f000000)));
  const Term f = select(small, x, scaled - 1);
  const Term left = select(low, mantissa, shift_right(words(0x800000) - mantissa, 2));
  const Term tiny = to.compare(select(small, words(1), left), words(0), "EQ");
  const auto times = [](const Term& a, const Term& b) { return rounded(a * b); };
  const auto by = [&](const Term& a, double b) { return times(a, floats(x, static_cast<float>(b))); };
  const Term exponent = to.convert(k, float32);
  const Term high = by(exponent, 6.9313812256e-01);
  const Term rest = by(exponent, 9.0580006145e-06) + lost;
  const Term half = times(f * 0.5, f);
  const Term linear = times(half, floats(x, 1) - by(f, 0.66666666666666666));
  const Term s = f / (f + 2), z = times(s, s);
  Term r = by(z, 1.4798198640e-01) + static_cast<double>(1.5313838422e-01F);
  for (const float c : {1.8183572590e-01F, 2.2222198546e-01F, 2.8571429849e-01F, 4.0000000596e-01F, 6.6666668653e-01F})
    r = times(r, z) + static_cast<double>(c);
  r = times(z, r);
  const Term bent = times(s, half + r);
  const Term near = f - (half - bent);
  const Term far = high - ((half - (bent + rest)) - f);
  const Term near_power = select(equal(f, 0), high + rest, high - ((linear - rest) - f));
  const Term made = select(small, near, select(tiny, near_power, far));
  const Term size = -x;
  const Term very_small = select(size < 0x1p-54, x, x - by(times(x, x), 0.5));
  return select(size < 0x1p-29, very_small, made);
}

Term golden_exp(const Term& x) {
  Lowering& to = *x.to;
  const Term scaled = rounded(x * static_cast<double>(1.442695F));
  const Term whole = f32(to.unary("floor", f64(scaled) + 0.5));
  const Term power =
      horner(scaled - whole, {1.535336188319500e-4F, 1.339887440266574e-3F, 9.618437357674640e-3F,
                              5.550332471162809e-2F, 2.402264791363012e-1F, 6.931472028550421e-1F, 1.0F});
  const Term two = float_of(to.convert(shift_left(s32(whole) + 127, 23), uint32));
  const Term at_most = select(x > 88.0, floats(x, INFINITY), two * power);
  const Term bounded = select(x < -88.0, floats(x, 0), at_most);
  return select(to.compare(x, x, "NE"), x, bounded);
}

Term golden_erf(const Term& x) {
  Lowering& to = *x.to;
  const Term t = floats(x, 1) / fused(floats(x, 0.3275911F), to.unary("abs", x), 1.0F);
  const Term r = horner(t, {1.061405429F, -1.453152027F, 1.421413741F, -0.284496736F, 0.254829592F});
  const Term e = -golden_exp(-x * x);
  const Term result = fused(e * t, r, 1.0F);
  return select(x > 0, result, -result);
}

Term golden_erfinv(const Term& x) {
  Lowering& to = *x.to;
  const Term t = golden_log(fused(x, -x, 1.0F));
  const Term far = horner(t, {3.03697567e-10F, 2.93243101e-8F, 1.22150334e-6F, 2.84108955e-5F, 3.93552968e-4F,
                              3.02698812e-3F, 4.83185798e-3F, -2.64646143e-1F, 8.40016484e-1F});
  const Term near = horner(t, {5.43877832e-9F, 1.43285448e-7F, 1.22774793e-6F, 1.12963626e-7F, -5.61530760e-5F,
                               -1.47697632e-4F, 2.31468678e-3F, 1.15392581e-2F, -2.32015476e-1F, 8.86226892e-1F});
  return x * select(to.unary("abs", t) > 6.125, far, near);
}

}  // namespace lowtide::lazy
