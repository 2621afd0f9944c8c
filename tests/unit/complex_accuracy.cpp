#include "complex_accuracy.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <complex>
#include <limits>

#include "nest/legalise.h"

namespace lowtide::engine {
namespace {

using Z = QuadComplex;

const Quad kPi = 2 * atan2f128(1, 0);

Z times_i(Z z) { return {-z.im, z.re}; }
Z over_i(Z z) { return {z.im, -z.re}; }

Z exponential(Z z) {
  const Quad size = expf128(z.re);
  return {size * cosf128(z.im), z.im == 0 ? z.im : size * sinf128(z.im)};
}
Z exp_minus_one(Z z) {
  const Quad half = sinf128(z.im / 2);
  return {expm1f128(z.re) * cosf128(z.im) - 2 * half * half, z.im == 0 ? z.im : expf128(z.re) * sinf128(z.im)};
}
Z logarithm(Z z) {
  const Quad a = fabsf128(z.re), b = fabsf128(z.im), most = a > b ? a : b, least = a > b ? b : a, size = size_of(z);
  const bool near = size > 0.5 && size < 2;
  return {near ? log1pf128((most - 1) * (most + 1) + least * least) / 2 : logf128(size), atan2f128(z.im, z.re)};
}
Z log_plus_one(Z z) {
  const bool near = fabsf128(z.re) < 0.5 && fabsf128(z.im) < 0.5;
  const Quad size = near ? log1pf128(z.re * (z.re + 2) + z.im * z.im) / 2 : logf128(hypotf128(1 + z.re, z.im));
  return {size, atan2f128(z.im, 1 + z.re)};
}
Z square_root(Z z) {
  if (z.re == 0 && z.im == 0) return {0, z.im};
  const Quad t = sqrtf128((fabsf128(z.re) + size_of(z)) / 2), other = fabsf128(z.im) / (2 * t);
  const bool down = __builtin_signbit(static_cast<double>(z.im)) != 0;
  const Quad im = z.re < 0 ? t : other;
  return {z.re < 0 ? other : t, down ? -im : im};
}
Z cube_root(Z z) {
  const Quad size = cbrtf128(size_of(z)), angle = atan2f128(z.im, z.re) / 3;
  return {size * cosf128(angle), size * sinf128(angle)};
}
Z hyperbolic_sine(Z z) { return {sinhf128(z.re) * cosf128(z.im), z.im == 0 ? z.im : coshf128(z.re) * sinf128(z.im)}; }
Z hyperbolic_cosine(Z z) {
  return {coshf128(z.re) * cosf128(z.im), z.im == 0 || z.re == 0 ? 0 : sinhf128(z.re) * sinf128(z.im)};
}
Z hyperbolic_tangent(Z z) {
  const Quad s = sinf128(z.im), c = cosf128(z.im);
  if (fabsf128(z.re) > 100) return {z.re > 0 ? Quad(1) : Quad(-1), 4 * s * c * expf128(-2 * fabsf128(z.re))};
  const Quad sh = sinhf128(z.re), divisor = sh * sh + c * c;
  return {sh * coshf128(z.re) / divisor, s * c / divisor};
}
/// sqrt(1 + z^2), from the factors 1 + i z and 1 - i z.
Z root_of_one_plus_square(Z z) { return square_root({(1 - z.im) * (1 + z.im) + z.re * z.re, 2 * z.re * z.im}); }
Z area_sine(Z z) {
  if (__builtin_signbit(static_cast<double>(z.re))) return -area_sine(-z);
  return log_plus_one(z + z * z / (Z{1} + root_of_one_plus_square(z)));
}
/// log((1 + z)/(1 - z))/2: the real part is log1p(4 x/((1 - x)^2 + y^2))/4.
Z area_tangent(Z z) {
  if (z.re < 0) return -area_tangent(-z);
  const Quad x = z.re, y = z.im, far = (1 - x) * (1 - x) + y * y;
  return {log1pf128(4 * x / far) / 4, (atan2f128(y, 1 + x) + atan2f128(y, 1 - x)) / 2};
}
Z arc_tangent(Z z) { return over_i(area_tangent(times_i(z))); }
/// From the roots of 1 + z and 1 - z (Kahan, 1987): pi/2 - asin z would cancel near 1.
Z arc_cosine(Z z) {
  const Z p = square_root({1 + z.re, z.im}), q = square_root({1 - z.re, -z.im});
  return {2 * atan2f128(q.re, p.re), asinhf128(p.re * q.im - p.im * q.re)};
}
Z area_cosine(Z z) {
  const Z p = square_root({z.re + 1, z.im}), q = square_root({z.re - 1, z.im});
  return {asinhf128(p.re * q.re + p.im * q.im), 2 * atan2f128(q.im, p.re)};
}
Z power(Z x, Z y) {
  if (y.re == 0 && y.im == 0) return {1};
  if (x.re == 0 && x.im == 0 && y.re > 0) return {0};
  return exponential(y * logarithm(x));
}
/// -i log((x + i y)/sqrt(x^2 + y^2)): where that is near 0 or half a turn, by the arc tangent.
Z angle(Z y, Z x) {
  const Z a = x + times_i(y), b = x - times_i(y);
  const Z square{(a * b).re, 2 * (x.re * x.im + y.re * y.im)};
  const Z general = over_i(logarithm(a / square_root(square)));
  const Z t = y / x;
  if (!(size_of(t) < 0x1p-10)) return general;
  const Z near = arc_tangent(t);
  return near + Z{fabsf128(general.re) < 1 ? 0 : t.re > 0 ? -kPi : kPi, 0};
}

}  // namespace

const std::vector<ComplexAccuracyCase>& complex_accuracy_cases() {
  static const std::vector<ComplexAccuracyCase> cases = {
      {Opcode::kExponential, 1, [](Z z, Z) { return exponential(z); }},
      {Opcode::kExponentialMinusOne, 1, [](Z z, Z) { return exp_minus_one(z); }},
      {Opcode::kLog, 1, [](Z z, Z) { return logarithm(z); }},
      {Opcode::kLogPlusOne, 1, [](Z z, Z) { return log_plus_one(z); }},
      {Opcode::kLogistic, 1, [](Z z, Z) { return Z{1} / (Z{1} + exponential(-z)); }},
      {Opcode::kTanh, 1, [](Z z, Z) { return hyperbolic_tangent(z); }},
      {Opcode::kSine, 1, [](Z z, Z) { return over_i(hyperbolic_sine(times_i(z))); }},
      {Opcode::kCosine, 1, [](Z z, Z) { return hyperbolic_cosine(times_i(z)); }},
      {Opcode::kTan, 1, [](Z z, Z) { return over_i(hyperbolic_tangent(times_i(z))); }},
      {Opcode::kAsin, 1, [](Z z, Z) { return over_i(area_sine(times_i(z))); }},
      {Opcode::kAcos, 1, [](Z z, Z) { return arc_cosine(z); }},
      {Opcode::kAtan, 1, [](Z z, Z) { return arc_tangent(z); }},
      {Opcode::kSinh, 1, [](Z z, Z) { return hyperbolic_sine(z); }},
      {Opcode::kCosh, 1, [](Z z, Z) { return hyperbolic_cosine(z); }},
      {Opcode::kAsinh, 1, [](Z z, Z) { return area_sine(z); }},
      {Opcode::kAcosh, 1, [](Z z, Z) { return area_cosine(z); }},
      {Opcode::kAtanh, 1, [](Z z, Z) { return area_tangent(z); }},
      {Opcode::kSqrt, 1, [](Z z, Z) { return square_root(z); }},
      {Opcode::kRsqrt, 1, [](Z z, Z) { return Z{1} / square_root(z); }},
      {Opcode::kCbrt, 1, [](Z z, Z) { return cube_root(z); }},
      {Opcode::kAbs, 1, [](Z z, Z) { return Z{size_of(z)}; }},
      {Opcode::kSign, 1, [](Z z, Z) { return z.re == 0 && z.im == 0 ? z : z * (1 / size_of(z)); }},
      {Opcode::kDivide, 2, [](Z x, Z y) { return x / y; }},
      {Opcode::kAtan2, 2, [](Z y, Z x) { return angle(y, x); }},
      {Opcode::kPower, 2, [](Z x, Z y) { return power(x, y); }},
  };
  return cases;
}

double complex_accuracy_bound(Opcode opcode, ElementType type) {
  if (type == ElementType::kC64) return 1;
  return opcode == Opcode::kPower ? 0x1p15 : 6;  // an error of y log x is multiplied by its size, up to 1.1e4
}

namespace {

/// On a branch cut of atan2 two results are right.
bool is_on_cut(QuadComplex y, QuadComplex x) { return x.re * x.im + y.re * y.im == 0 && !(x.im == 0 && y.im == 0); }

template <class R>
class Arguments {
 public:
  using C = std::complex<R>;
  C next() {
    const uint64_t kind = random() % 18;
    if (kind > 15) return kind == 16 ? C{largest(), largest()} : C{least(), least()};
    if (kind < 4) return {anything(), anything()};
    if (kind < 8) return {moderate(), moderate()};
    if (kind < 10) return polar(std::exp2(R(20) * fraction() - 10));
    if (kind < 12) return polar(1 + std::ldexp(fraction() - R(0.5), -static_cast<int>(random() % 20)));
    if (kind == 12) return random() % 2 ? C{moderate(), 0} : C{0, moderate()};
    constexpr R kCorners[][2] = {{0, 0}, {1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    const R* corner = kCorners[random() % 5];
    const C off = polar(std::exp2(-fraction() * std::numeric_limits<R>::digits));
    return C{corner[0] + off.real(), corner[1] + off.imag()};
  }
  /// An exponent for `x` such that x^y is neither always zero nor always infinite.
  C exponent() { return polar(std::exp2(R(12) * fraction() - 8)); }

 private:
  uint64_t random() { return (seed_ = seed_ * 6364136223846793005 + 1442695040888963407) >> 16; }
  R fraction() { return static_cast<R>(static_cast<double>(random()) * 0x1p-48); }
  R moderate() { return std::ldexp(fraction() - R(0.5), static_cast<int>(random() % 21) - 10); }
  R largest() { return (fraction() - R(0.5)) * 2 * std::numeric_limits<R>::max(); }
  R least() { return (fraction() - R(0.5)) * 8 * std::numeric_limits<R>::min(); }
  C polar(R size) {
    const double angle = fraction() * 6.283185307179586;
    return {static_cast<R>(size * std::cos(angle)), static_cast<R>(size * std::sin(angle))};
  }
  R anything() {
    using U = std::conditional_t<sizeof(R) == 4, uint32_t, uint64_t>;
    const R number = std::bit_cast<R>(static_cast<U>(random() << 20 ^ random()));
    return std::isfinite(number) ? number : R(1);
  }
  uint64_t seed_ = 1;
};

template <class R>
std::string text_of(std::complex<R> z) {
  return fmt::format("{:.6g}{:+.6g}i", z.real(), z.imag());
}

template <class R>
Accuracy measure_as(const ComplexAccuracyCase& row, ElementType type, const MeasureOptions& options) {
  using C = std::complex<R>;
  std::vector<C> x = {C(0)}, y = {C(-1)};  // half a turn from 0, as an angle
  Arguments<R> arguments;
  for (uint64_t i = 0; i < options.samples; ++i) {
    x.push_back(arguments.next());
    y.push_back(row.opcode == Opcode::kPower ? arguments.exponent() : arguments.next());
  }
  const bool is_real = row.opcode == Opcode::kAbs;
  const ElementType part = type == ElementType::kC64 ? ElementType::kF32 : ElementType::kF64;
  const Node operation{.kind = NodeKind::kOperation, .opcode = row.opcode, .type = is_real ? part : type};
  const std::vector<ElementType> types(static_cast<size_t>(row.arity), type);
  const Nest nest = legalise(elementwise_nest(operation, types, static_cast<int64_t>(x.size())));
  std::vector<R> got(x.size() * 2);
  std::vector<void*> buffers = {x.data()};
  if (row.arity == 2) buffers.push_back(y.data());
  buffers.push_back(got.data());
  options.run(nest, buffers);

  Accuracy result;
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const C z = is_real ? C(got[i], 0) : C(got[2 * i], got[2 * i + 1]);
    const QuadComplex u{x[i].real(), x[i].imag()}, v{y[i].real(), y[i].imag()};
    if (row.opcode == Opcode::kAtan2 && is_on_cut(u, v)) continue;
    const QuadComplex truth = row.truth(u, v);
    const Quad size = size_of(truth);
    if (!(size <= Quad(std::numeric_limits<R>::max()) * 0.999)) continue;
    int exponent = 0;
    frexpf128(size, &exponent);
    exponent = std::max(exponent, std::numeric_limits<R>::min_exponent);
    const Quad error = size_of(QuadComplex{z.real(), z.imag()} - truth);
    const auto off = static_cast<double>(ldexpf128(error, std::numeric_limits<R>::digits - exponent));
    const std::string at = row.arity == 1 ? text_of(x[i]) : text_of(x[i]) + ", " + text_of(y[i]);
    if (!std::isfinite(z.real()) || !std::isfinite(z.imag())) {
      if (!result.fault.empty()) continue;
      result.fault = fmt::format("{}({}) is {}, not {}", row.name(), at, text_of(z),
                                 text_of(std::complex(static_cast<double>(truth.re), static_cast<double>(truth.im))));
      continue;
    }
    ++result.samples;
    sum += off;
    if (off > result.most) result.most = off, result.at = at;
  }
  result.mean = sum / static_cast<double>(result.samples);
  return result;
}

}  // namespace

Accuracy measure(const ComplexAccuracyCase& row, ElementType type, const MeasureOptions& options) {
  return type == ElementType::kC64 ? measure_as<float>(row, type, options) : measure_as<double>(row, type, options);
}

}  // namespace lowtide::engine
