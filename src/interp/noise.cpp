#include "interp/noise.h"

#include <algorithm>
#include <cmath>
#include <complex>

#include "ops/op_rule.h"

namespace lowtide::engine {
namespace {

constexpr double kRoundings = 2;  ///< of one operation in an equivalent form
/// The share of a sum's terms that another order may round differently. Narrow sums lose most when they have grown.
constexpr double kOfTerms = 1.0 / 8;

constexpr double kFloat = 0x1p-24;

const ElementArithmetic& arithmetic_of(const Instruction& i) { return rule_of(i.opcode).arithmetic; }

/// Are sums of narrow floats kept in wider ones?
bool sums_in_floats(const Instruction& i) {
  return memory_class(i.opcode) == MemoryClass::kContract || arithmetic_of(i).rounds == Rounds::kAlways;
}

/// Does a reduction's body round?
bool body_rounds(const Computation& body) {
  if (!body.root->shape.is_tuple()) return rounds(*body.root);
  return std::ranges::any_of(body.root->operands, [](const Instruction* i) { return rounds(*i); });
}

template <class T>
constexpr bool kIsFloat = !std::is_integral_v<T> && !requires(T t) { t.held; };

template <class T>
double as_double(T x) {
  if constexpr (std::is_same_v<T, double>)
    return x;
  else
    return static_cast<double>(static_cast<float>(x));
}
template <class T>
T from_double(double x) {
  if constexpr (std::is_same_v<T, double>)
    return x;
  else
    return T(static_cast<float>(x));
}

}  // namespace

bool rounds(const Instruction& i) {
  const Rounds how = arithmetic_of(i).rounds;
  switch (how) {
    case Rounds::kNever: return false;
    case Rounds::kFloats:
    case Rounds::kOfLargest: return i.shape.is_array() && (is_floating(i.shape.type) || is_complex(i.shape.type));
    case Rounds::kAsItsBody: return body_rounds(*i.called[0]);
    case Rounds::kAlways: return true;
  }
  __builtin_unreachable();
}

double rounding_error_of(const Instruction& i, ElementType type) {
  const double roundoff = roundoff_of(type), terms = arithmetic_of(i).terms.value(i);
  const double of_sum = sums_in_floats(i) ? std::min(roundoff, kFloat) : roundoff;
  // If a sum grows so large that whole terms are lost, another order may preserve them all.
  const double lost = terms * of_sum > 1 ? 1 : kOfTerms;
  return kRoundings * roundoff + lost * terms * of_sum;
}

double roundoff_of(ElementType floating) {
  return dispatch(floating, [&]<class T>() -> double {
    if constexpr (kIsFloat<T>) {
      if constexpr (std::is_same_v<T, std::complex<float>>)
        return 0x1p-24;
      else if constexpr (std::is_same_v<T, std::complex<double>> || std::is_same_v<T, double>)
        return 0x1p-53;
      else {
        double step = 0.5;
        while (static_cast<double>(static_cast<float>(T(static_cast<float>(1 + step)))) != 1 && step > 0x1p-60)
          step /= 2;
        return step;
      }
    } else {
      return 0;
    }
  });
}

bool errs_like_largest(const Instruction& i) { return arithmetic_of(i).rounds == Rounds::kOfLargest; }

double Noise::part() {
  uint64_t z = state_ += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  // At least half of it: a smaller perturbation of a result that is rounded once would be rounded away.
  const double part = static_cast<double>((z ^ (z >> 31)) >> 40) / 0x1p23 - 1;
  return std::copysign((1 + std::abs(part)) / 2, part);
}

void Noise::add(Literal& array, double unit) {
  dispatch(array.shape().type, [&]<class T>() {
    if constexpr (kIsFloat<T>) {
      for (T& x : array.data<T>()) {
        const double factor = 1 + unit * part();
        if constexpr (std::is_constructible_v<T, double, double>)
          x *= static_cast<typename T::value_type>(factor);
        else
          x = from_double<T>(as_double(x) * factor);
      }
    }
  });
}

void Noise::add_like_largest(Literal& array, double unit) {
  dispatch(array.shape().type, [&]<class T>() {
    if constexpr (kIsFloat<T>) {
      const auto size = [](const T& x) {
        if constexpr (std::is_constructible_v<T, double, double>)
          return static_cast<double>(std::abs(x));
        else
          return std::fabs(as_double(x));
      };
      double largest = 0;
      for (const T& x : array.data<T>()) {
        if (std::isfinite(size(x))) largest = std::max(largest, size(x));
      }
      const double most = unit * largest;
      for (T& x : array.data<T>()) {
        if constexpr (std::is_constructible_v<T, double, double>)
          x +=
              T(static_cast<typename T::value_type>(most * part()), static_cast<typename T::value_type>(most * part()));
        else
          x = from_double<T>(as_double(x) + most * part());
      }
    }
  });
}

}  // namespace lowtide::engine
