#pragma once
/// Sums of products for dot and convolution: operands are gathered into dense panels of one type, and sums are rounded
/// once at the end.

#include <type_traits>
#include <vector>

#include "ops/elementwise.h"
#include "ops/numbers.h"

namespace lowtide::engine {

/// The type in which products of elements stored as T are summed: integers wrap; floats narrower than f32 are summed in
/// f64 and rounded once at the end.
template <class T>
using sum_t = std::conditional_t<
    std::is_same_v<computed_t<T>, int64_t>, uint64_t,
    std::conditional_t<std::is_same_v<computed_t<T>, float> && !std::is_same_v<T, float>, double, computed_t<T>>>;

template <class S>
void multiply_add(S& sum, S a, S b) {
  if constexpr (std::is_same_v<S, bool>) {
    sum = sum || (a && b);
  } else if constexpr (is_complex_v<S>) {
    // Like XLA, without the C standard's recovery of infinities.
    sum += S(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  } else {
    sum += a * b;
  }
}

/// The elements at these offsets, converted to the summing type.
template <class S>
std::unique_ptr<S[]> panel(const Literal& array, const Dims& offsets) {
  auto numbers = std::make_unique<S[]>(offsets.size());
  dispatch(array.shape().type, [&]<class T>() {
    if constexpr (std::is_same_v<sum_t<T>, S>) {
      const auto data = array.data<T>();
      for (size_t i = 0; i < offsets.size(); ++i) {
        numbers[i] = static_cast<S>(widen(data[offsets[i]]));
      }
    } else {
      LT_ASSERT(false, to_string(array.shape()) + " is not summed in the type asked for");
    }
  });
  return numbers;
}

/// Stores a sum as an element, rounded once.
template <class T, class S>
T rounded(S sum) {
  return narrow<T>(static_cast<computed_t<T>>(sum));
}

inline constexpr int64_t kSumsAtOnce = 64;

/// sums[j] += sum over k of a[k] * b[k * stride + j], for j < width <= kSumsAtOnce.
template <class S>
void accumulate(S* sums, const S* a, const S* b, int64_t count, int64_t stride, int64_t width) {
  for (int64_t k = 0; k < count; ++k) {
    const S factor = a[k];
    const S* row = b + k * stride;
    if (width == kSumsAtOnce) {
      for (int64_t j = 0; j < kSumsAtOnce; ++j) multiply_add(sums[j], factor, row[j]);
    } else {
      for (int64_t j = 0; j < width; ++j) multiply_add(sums[j], factor, row[j]);
    }
  }
}

/// Calls f.operator()<T, S>() with the stored and the summing type of an element type.
template <class F>
void dispatch_sums(ElementType type, F&& f) {
  dispatch(type, [&]<class T>() { f.template operator()<T, sum_t<T>>(); });
}

}  // namespace lowtide::engine
