#include "text/stablehlo/special_functions.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "text/stablehlo/special_coefficients.h"

namespace lowtide::engine {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = std::numbers::pi;

bool is_double(const Term& x) { return x.type() == ElementType::kF64; }
Term number(double value, const Term& like) { return like.in->number(value, like); }
Term polynomial(const Term& x, std::span<const double> c) { return x.in->polynomial(x, c); }
Term both(const Term& x, const Term& y) { return x.in->binary(Opcode::kAnd, x, y); }
Term same(const Term& x, const Term& y) { return x.in->compare("EQ", x, y); }

/// Clenshaw's sum of a Chebyshev series whose constant coefficient counts half.
Term chebyshev(const Term& x, std::span<const double> coefficients) {
  Term b0 = number(0, x), b1 = b0, b2 = b0;
  for (const double c : coefficients) {
    b2 = b1;
    b1 = b0;
    b0 = x * b1 - b2 + c;
  }
  return 0.5 * (b0 - b2);
}

/// Shared by lgamma and digamma: z = x - 1, or -x for x < 1/2, where the reflection formula is used.
struct Lanczos {
  static constexpr double kG = 7;
  static constexpr double kBase = 0.99999999999980993227684700473478;
  Term reflected, z, sum, log_t;

  explicit Lanczos(const Term& x)
      : reflected(x < 0.5),
        z(select(reflected, -x, x - 1)),
        sum(number(kBase, x)),
        log_t(std::log(kG + 0.5) + log1p(z / (kG + 0.5))) {
    double k = 1;
    for (const double residue : kLanczos) sum = sum + residue / (z + k++);
  }
};

}  // namespace

Term erf_inv_of(const Term& x) {
  const Term w = -log1p(x * -x);
  Term p = w;
  if (is_double(x)) {
    const Term root = sqrt(w);
    p = select(w < 6.25, polynomial(w - 3.125, kErfInvSmall64),
               select(w < 16, polynomial(root - 3.25, kErfInvMiddle64), polynomial(root - 5, kErfInvLarge64)));
  } else {
    p = select(w < 5, polynomial(w - 2.5, kErfInvSmall32), polynomial(sqrt(w) - 3, kErfInvLarge32));
  }
  return select(abs(x) == 1, x * kInfinity, p * x);
}

Term erfc_of(const Term& x) {
  const Term square = x * x, size = abs(x), e = exp(-square);
  Term erf = x, tail = x;
  double smallest = 0;  // for exponents below it exp() counts as 0
  if (is_double(x)) {
    erf = x * polynomial(square, kErfNumerator64) / polynomial(square, kErfDenominator64);
    tail = select(size < 8, e * polynomial(size, kErfcMiddleNumerator64) / polynomial(size, kErfcMiddleDenominator64),
                  e * polynomial(size, kErfcLargeNumerator64) / polynomial(size, kErfcLargeDenominator64));
    smallest = -709.78271289338397;
  } else {
    const Term inverse = 1 / square;
    erf = x * polynomial(square, kErf32);
    tail = e * (1 / size) * select(size < 2, polynomial(inverse, kErfcMiddle32), polynomial(inverse, kErfcLarge32));
    smallest = -88.7228394;
  }
  tail = select(-square < smallest, number(0, x), tail);
  return select(size < 1, 1 - erf, select(x < 0, 2 - tail, tail));
}

Term lgamma_of(const Term& x) {
  const Lanczos l(x);
  const Term t = l.z + (Lanczos::kG + 0.5);
  const Term right = (l.z + 0.5 - t / l.log_t) * l.log_t + 0.5 * std::log(2 * kPi) + log(l.sum);
  // Reflection: log pi - log |sin(pi x)| - lgamma(1 - x), with the sine of the distance to the nearest integer.
  const Term size = abs(x), part = size - floor(size);
  const Term distance = select(part > 0.5, 1 - part, part);
  const Term log_sine = log(sin(distance * kPi));
  const Term left = select(x.in->unary(Opcode::kIsFinite, log_sine), std::log(kPi) - log_sine - right, -log_sine);
  return select(size == kInfinity, number(kInfinity, x), select(l.reflected, left, right));
}

Term digamma_of(const Term& x) {
  const Lanczos l(x);
  Term derivative = number(0, x);
  double k = 1;
  for (const double residue : kLanczos) {
    const Term shifted = l.z + k++;
    derivative = derivative - residue / (shifted * shifted);
  }
  const Term t = l.z + (Lanczos::kG + 0.5);
  const Term right = l.log_t + derivative / l.sum - Lanczos::kG / t;
  const Term angle = (x + abs(floor(x + 0.5))) * kPi;
  const Term left = right - cos(angle) * kPi / sin(angle);
  const Term pole = both(x.in->compare("LE", x, number(0, x)), same(x, floor(x)));
  return select(pole, number(kNaN, x), select(l.reflected, left, right));
}

Term bessel_i1e_of(const Term& x) {
  const Term size = abs(x);
  const std::span<const double> small = is_double(x) ? std::span<const double>(kBesselI1Small64) : kBesselI1Small32;
  const std::span<const double> large = is_double(x) ? std::span<const double>(kBesselI1Large64) : kBesselI1Large32;
  const Term near = size * chebyshev(0.5 * size - 2, small);
  const Term far = chebyshev(32 / size - 2, large) / sqrt(size);
  return x.in->unary(Opcode::kSign, x) * select(x.in->compare("LE", size, number(8, x)), near, far);
}

Term zeta_of(const Term& x, const Term& q) {
  // Euler-Maclaurin summation: ten terms, the integral of the rest, and corrections with B(2k) / (2k)!.
  constexpr int kTerms = 10;
  constexpr double kCorrections[] = {-1.3954464685812522e-19, 5.5090028283602295e-18,  -2.1748686985580617e-16,
                                     8.5860620562778452e-15,  -3.3896802963225832e-13, 1.3382536530684679e-11,
                                     -5.2841901386874932e-10, 2.08767569878681e-08,    -8.2671957671957675e-07,
                                     3.3068783068783071e-05,  -0.0013888888888888889,  0.083333333333333329};
  Term a = q, sum = pow(q, -x);
  for (int k = 1; k < kTerms; ++k) {
    a = a + 1;
    sum = sum + pow(a, -x);
  }
  a = a + 1;
  const Term term = pow(a, -x), inverse = 1 / (a * a);
  Term correction = number(0, x);
  int k = static_cast<int>(std::size(kCorrections));
  for (const double c : kCorrections) {
    correction = correction + c;
    if (--k > 0) correction = (x + 2.0 * k) * (x + (2.0 * k - 1)) * (inverse * correction);
  }
  const Term all = sum + term * a / (x - 1) + term * (0.5 + x / a * correction);
  const double smallest =
      is_double(x) ? std::numeric_limits<double>::denorm_min() : static_cast<double>(std::numeric_limits<float>::min());
  const Term value = select(x.in->compare("LT", abs(term), abs(sum) * smallest), sum, all);
  const Term nan = number(kNaN, x), infinity = number(kInfinity, x);
  const Term left = x.in->compare("LE", q, number(0, q));
  const Term even = both(same(x, floor(x)), x.in->binary(Opcode::kRemainder, x, number(2, x)) == 0);
  const Term broken = both(left, x.in->compare("NE", x, floor(x)));
  const Term right = select(broken, nan, select(x < 1, nan, value));
  return select(x == 1, infinity, select(both(left, same(q, floor(q))), select(even, infinity, nan), right));
}

Term polygamma_of(const Term& n, const Term& x) {
  const Term next = n + 1;
  const Term sign = 2 * x.in->binary(Opcode::kRemainder, n, number(2, n)) - 1;
  const Term value = sign * exp(lgamma_of(next)) * zeta_of(next, x);
  const Term wrong = x.in->binary(Opcode::kOr, x.in->compare("NE", n, floor(n)), n < 0);
  return select(wrong, number(kNaN, x), select(n == 0, digamma_of(x), value));
}

}  // namespace lowtide::engine
