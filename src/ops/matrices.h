#pragma once
/// Numbers of dense linear algebra and transforms, computed in double precision for every element type.

#include <cmath>
#include <complex>

#include "ops/numbers.h"

namespace lowtide::engine {

inline double conjugate(double x) { return x; }
inline Complex128 conjugate(Complex128 x) { return std::conj(x); }
inline double real_part(double x) { return x; }
inline double real_part(Complex128 x) { return x.real(); }

/// Calls f.operator()<T, S>() with the stored type and double or Complex128, for floating and complex types.
template <class F>
void dispatch_matrices(ElementType type, F&& f) {
  dispatch(type, [&]<class T>() {
    if constexpr (is_complex_v<T>) {
      f.template operator()<T, Complex128>();
    } else if constexpr (std::is_floating_point_v<computed_t<T>>) {
      f.template operator()<T, double>();
    }
  });
}

}  // namespace lowtide::engine
