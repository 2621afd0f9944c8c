/// Functions of floats and complex numbers; elementwise.h states their constraints. Each is computed in double
/// precision (complex numbers in the next wider type) and rounded once.

#include "ops/arithmetic.h"
#include "ops/elementwise.h"
#include "ops/functions.h"

namespace lowtide::engine {
namespace {

template <auto f>
struct Widely {
  template <class C>
  C operator()(C x) const {
    if constexpr (is_complex_v<C>) {
      return C(f(Wide<C>(x)));
    } else {
      return static_cast<C>(f(static_cast<double>(x)));
    }
  }
  template <class C>
  C operator()(C x, C y) const {
    if constexpr (is_complex_v<C>) {
      return C(f(Wide<C>(x), Wide<C>(y)));
    } else {
      return static_cast<C>(f(static_cast<double>(x), static_cast<double>(y)));
    }
  }
};

/// The exponentials of floats have code of their own.
struct Exponential {
  template <class C>
  C operator()(C x) const {
    if constexpr (std::is_same_v<C, float>) {
      return exponential(x);
    } else {
      return Widely<[](auto wide) { return std::exp(wide); }>{}(x);
    }
  }
};
struct ExponentialMinusOne {
  template <class C>
  C operator()(C x) const {
    if constexpr (std::is_same_v<C, float>) {
      return exp_minus_one(x);
    } else {
      return Widely<[](auto wide) { return exp_minus_one(wide); }>{}(x);
    }
  }
};

template <auto f, Kinds kinds = kFloats | kComplexes>
constexpr OpRule analytic() {
  return unary<kinds, Widely<f>{}>();
}

}  // namespace

const OpRule kAcosRule = analytic<[](auto x) { return std::acos(x); }>();
const OpRule kAcoshRule = analytic<[](auto x) { return std::acosh(x); }>();
const OpRule kAsinRule = analytic<[](auto x) { return std::asin(x); }>();
const OpRule kAsinhRule = analytic<[](auto x) { return std::asinh(x); }>();
const OpRule kAtanRule = analytic<[](auto x) { return std::atan(x); }>();
const OpRule kAtanhRule = analytic<[](auto x) { return std::atanh(x); }>();
const OpRule kCbrtRule = analytic<[](auto x) { return cube_root(x); }>();
const OpRule kCoshRule = analytic<[](auto x) { return std::cosh(x); }>();
const OpRule kCosineRule = analytic<[](auto x) { return std::cos(x); }>();
const OpRule kErfRule = analytic<[](double x) { return std::erf(x); }, kFloats>();
const OpRule kExponentialRule = unary<kFloats | kComplexes, Exponential{}>();
const OpRule kExponentialMinusOneRule = unary<kFloats | kComplexes, ExponentialMinusOne{}>();
const OpRule kLogRule = analytic<[](auto x) { return std::log(x); }>();
const OpRule kLogPlusOneRule = analytic<[](auto x) { return log_plus_one(x); }>();
const OpRule kLogisticRule = analytic<[](auto x) { return logistic(x); }>();
const OpRule kRsqrtRule = analytic<[](auto x) { return reciprocal_root(x); }>();
const OpRule kSineRule = analytic<[](auto x) { return std::sin(x); }>();
const OpRule kSinhRule = analytic<[](auto x) { return std::sinh(x); }>();
const OpRule kSqrtRule = analytic<[](auto x) { return std::sqrt(x); }>();
const OpRule kTanRule = analytic<[](auto x) { return std::tan(x); }>();
const OpRule kTanhRule = analytic<[](auto x) { return std::tanh(x); }>();

const OpRule kAtan2Rule = binary<kFloats | kComplexes, Widely<[](auto y, auto x) { return arc_tangent(y, x); }>{}>();

}  // namespace lowtide::engine
