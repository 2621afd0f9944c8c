#pragma once
/// Arithmetic on numbers (numbers.h) as HLO specifies beyond C++: overflow wraps, division by zero has a value,
/// maximum and minimum propagate NaN, predicates add as `or`.

#include <bit>
#include <cmath>
#include <limits>

#include "ops/numbers.h"

namespace lowtide::engine {

/// The complex type in which functions of C are computed, so that squares neither overflow nor cancel.
template <class C>
using Wide = std::complex<std::conditional_t<std::is_same_v<C, Complex64>, double, long double>>;

/// Wrapping integers: the operation on unsigned numbers, whose overflow is defined.
template <class C>
using Unsigned = std::conditional_t<std::is_same_v<C, int64_t>, uint64_t, C>;

struct Add {
  template <class C>
  C operator()(C a, C b) const {
    if constexpr (std::is_same_v<C, bool>)
      return a || b;
    else
      return static_cast<C>(static_cast<Unsigned<C>>(a) + static_cast<Unsigned<C>>(b));
  }
};

struct Subtract {
  template <class C>
  C operator()(C a, C b) const {
    if constexpr (std::is_same_v<C, bool>)
      return a != b;
    else
      return static_cast<C>(static_cast<Unsigned<C>>(a) - static_cast<Unsigned<C>>(b));
  }
};

struct Multiply {
  template <class C>
  C operator()(C a, C b) const {
    if constexpr (std::is_same_v<C, bool>) {
      return a && b;
    } else if constexpr (is_complex_v<C>) {
      // Like XLA: without the C standard's recovery of infinities, and with one fused multiply-add per part.
      return C(std::fma(a.real(), b.real(), -(a.imag() * b.imag())), std::fma(a.real(), b.imag(), a.imag() * b.real()));
    } else {
      return static_cast<C>(static_cast<Unsigned<C>>(a) * static_cast<Unsigned<C>>(b));
    }
  }
};

struct Divide {
  template <class C>
  C operator()(C a, C b) const {
    if constexpr (std::is_integral_v<C>) {
      if (b == 0) return static_cast<C>(-1);
      if constexpr (std::is_signed_v<C>) {
        if (b == -1) return Subtract{}(C{0}, a);  // the least number has no negative counterpart
      }
      return a / b;
    } else if constexpr (is_complex_v<C>) {
      return C(Wide<C>(a) / Wide<C>(b));
    } else {
      return a / b;
    }
  }
};

struct Remainder {
  template <class C>
  C operator()(C a, C b) const {
    if constexpr (std::is_integral_v<C>) {
      if (b == 0) return a;
      if constexpr (std::is_signed_v<C>) {
        if (b == -1) return 0;
      }
      return a % b;
    } else {
      return std::fmod(a, b);
    }
  }
};

/// Orders complex numbers by their real parts, then by their imaginary parts.
template <class C>
bool comes_before(C a, C b) {
  return a.real() < b.real() || (a.real() == b.real() && a.imag() < b.imag());
}

struct Maximum {
  template <class C>
  C operator()(C a, C b) const {
    if constexpr (is_complex_v<C>) {
      return comes_before(a, b) ? b : a;
    } else {
      if constexpr (std::is_floating_point_v<C>) {
        if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? a : b;
        if (a == b) return std::signbit(a) ? b : a;  // max(-0, +0) is +0
      }
      return a < b ? b : a;
    }
  }
};

struct Minimum {
  template <class C>
  C operator()(C a, C b) const {
    if constexpr (is_complex_v<C>) {
      return comes_before(b, a) ? b : a;
    } else {
      if constexpr (std::is_floating_point_v<C>) {
        if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? a : b;
        if (a == b) return std::signbit(a) ? a : b;
      }
      return b < a ? b : a;
    }
  }
};

struct And {
  template <class C>
  C operator()(C a, C b) const {
    return a & b;
  }
};
struct Or {
  template <class C>
  C operator()(C a, C b) const {
    return a | b;
  }
};
struct Xor {
  template <class C>
  C operator()(C a, C b) const {
    return a ^ b;
  }
};

}  // namespace lowtide::engine
