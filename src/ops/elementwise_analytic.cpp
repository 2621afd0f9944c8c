/// Functions of floats and complex numbers; elementwise.h states their constraints. Each is computed in double
/// precision (complex numbers in the next wider type) and rounded once.

#include "ops/arithmetic.h"
#include "ops/elementwise.h"
#include "ops/functions.h"

namespace lowtide::engine {
namespace {

template <class F>
struct Widely {
  template <class C>
  C operator()(C x) const {
    if constexpr (is_complex_v<C>) {
      return C(F{}(Wide<C>(x)));
    } else {
      return static_cast<C>(F{}(static_cast<double>(x)));
    }
  }
  template <class C>
  C operator()(C x, C y) const {
    if constexpr (is_complex_v<C>) {
      return C(F{}(Wide<C>(x), Wide<C>(y)));
    } else {
      return static_cast<C>(F{}(static_cast<double>(x), static_cast<double>(y)));
    }
  }
};

template <class F>
constexpr Widely<F> widely(F) {
  return {};
}

/// Exponentials of f32 have their own implementation (functions.h).
struct Exponential {
  template <class C>
  C operator()(C x) const {
    if constexpr (std::is_same_v<C, float>) {
      return exponential(x);
    } else {
      return widely([](auto wide) { return std::exp(wide); })(x);
    }
  }
};
struct ExponentialMinusOne {
  template <class C>
  C operator()(C x) const {
    if constexpr (std::is_same_v<C, float>) {
      return exp_minus_one(x);
    } else {
      return widely([](auto wide) { return exp_minus_one(wide); })(x);
    }
  }
};

/// The rule of a unary operation that f, a lambda without state, computes widely.
template <Kinds kinds = kFloats | kComplexes, class F>
constexpr OpRule analytic(F f, const ElementArithmetic& arithmetic) {
  return unary<kinds>(widely(f), arithmetic);
}

}  // namespace

const OpRule kAcosRule = analytic([](auto x) { return std::acos(x); }, rounding(30, 30, 6));
const OpRule kAcoshRule = analytic([](auto x) { return std::acosh(x); }, rounding(30, 30, 6));
const OpRule kAsinRule = analytic([](auto x) { return std::asin(x); }, rounding(30, 30, 6));
const OpRule kAsinhRule = analytic([](auto x) { return std::asinh(x); }, rounding(30, 30, 6));
const OpRule kAtanRule = analytic([](auto x) { return std::atan(x); }, rounding(30, 30, 6));
const OpRule kAtanhRule = analytic([](auto x) { return std::atanh(x); }, rounding(30, 30, 6));
const OpRule kCbrtRule = analytic([](auto x) { return cube_root(x); }, rounding(10, 500, 4));
const OpRule kCoshRule = analytic([](auto x) { return std::cosh(x); }, rounding(30, 30, 6));
const OpRule kCosineRule = analytic([](auto x) { return std::cos(x); }, rounding(16, 1000, 16));
const OpRule kErfRule = analytic<kFloats>([](double x) { return std::erf(x); }, rounding(16, 16, 4));
const OpRule kExponentialRule = unary<kFloatsAndComplexes>(Exponential{}, rounding(10, 1000, 2));
const OpRule kExponentialMinusOneRule = unary<kFloatsAndComplexes>(ExponentialMinusOne{}, rounding(10, 1000, 2));
const OpRule kLogRule = analytic([](auto x) { return std::log(x); }, rounding(16, 500, 2));
const OpRule kLogPlusOneRule = analytic([](auto x) { return log_plus_one(x); }, rounding(16, 500, 2));
const OpRule kLogisticRule = analytic([](auto x) { return logistic(x); }, rounding(10, 1500, 2));
const OpRule kRsqrtRule = analytic([](auto x) { return reciprocal_root(x); }, rounding(5, 500, 1));
const OpRule kSineRule = analytic([](auto x) { return std::sin(x); }, rounding(16, 1000, 16));
const OpRule kSinhRule = analytic([](auto x) { return std::sinh(x); }, rounding(30, 30, 6));
const OpRule kSqrtRule = analytic([](auto x) { return std::sqrt(x); }, rounding(5, 500, 1));
const OpRule kTanRule = analytic([](auto x) { return std::tan(x); }, rounding(30, 1000, 16));
const OpRule kTanhRule = analytic([](auto x) { return std::tanh(x); }, rounding(16, 1500, 4));

const OpRule kAtan2Rule =
    binary<kFloatsAndComplexes>(widely([](auto y, auto x) { return arc_tangent(y, x); }), rounding(30, 30, 6));

}  // namespace lowtide::engine
