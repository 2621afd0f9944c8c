#include "library/fft_line.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

namespace lowtide::engine {
namespace {

/// Primes up to here are factors: the sums themselves, p products each.
constexpr int64_t kLargestFactor = 31;

Wave operator+(Wave a, Wave b) { return {a.re + b.re, a.im + b.im}; }
Wave operator-(Wave a, Wave b) { return {a.re - b.re, a.im - b.im}; }
Wave operator*(Wave a, Wave b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
Wave conjugate(Wave a) { return {a.re, -a.im}; }
Wave times_minus_i(Wave a) { return {a.im, -a.re}; }

/// exp(-2 pi i k / n), k < n: by the octant in which it lies, so that the angle is small and symmetries are exact.
Wave root(int64_t k, int64_t n) {
  if (8 * k > 4 * n) return conjugate(root(n - k, n));
  if (8 * k > 2 * n) {
    const Wave quarter = root(4 * k - n, 4 * n);  // k - n/4
    return times_minus_i(quarter);
  }
  if (8 * k > n) {
    const Wave mirrored = root(n - 4 * k, 4 * n);  // n/4 - k
    return {-mirrored.im, -mirrored.re};
  }
  const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
  return {std::cos(angle), -std::sin(angle)};
}

std::vector<int64_t> factors_of(int64_t n) {
  std::vector<int64_t> factors;
  for (const int64_t p : {4, 2, 3, 5}) {
    for (; n % p == 0; n /= p) factors.push_back(p);
  }
  for (int64_t p = 7; n > 1; p += 2) {
    for (; n % p == 0; n /= p) factors.push_back(p);
    if (p > kLargestFactor && n > 1) return {};
  }
  return factors;
}

/// The transform of kCount numbers.
template <size_t kCount>
void sums(std::array<Wave, kCount>& a) {
  static_assert(kCount >= 2 && kCount <= 5);
  if constexpr (kCount == 2) {
    a = {a[0] + a[1], a[0] - a[1]};
  } else if constexpr (kCount == 3) {
    const Wave sum = a[1] + a[2], turned = times_minus_i(a[1] - a[2]);
    const double sine = std::numbers::sqrt3 / 2;
    const Wave middle = {a[0].re - sum.re / 2, a[0].im - sum.im / 2};
    const Wave side = {turned.re * sine, turned.im * sine};
    a = {a[0] + sum, middle + side, middle - side};
  } else if constexpr (kCount == 4) {
    const Wave even = a[0] + a[2], odd = a[1] + a[3], apart = a[0] - a[2], turned = times_minus_i(a[1] - a[3]);
    a = {even + odd, apart + turned, even - odd, apart - turned};
  } else {
    constexpr double kCos1 = 0.30901699437494742410, kCos2 = -0.80901699437494742410;
    constexpr double kSin1 = 0.95105651629515357212, kSin2 = 0.58778525229247312917;
    const Wave s1 = a[1] + a[4], s2 = a[2] + a[3], d1 = times_minus_i(a[1] - a[4]), d2 = times_minus_i(a[2] - a[3]);
    const Wave m1 = {a[0].re + kCos1 * s1.re + kCos2 * s2.re, a[0].im + kCos1 * s1.im + kCos2 * s2.im};
    const Wave m2 = {a[0].re + kCos2 * s1.re + kCos1 * s2.re, a[0].im + kCos2 * s1.im + kCos1 * s2.im};
    const Wave t1 = {kSin1 * d1.re + kSin2 * d2.re, kSin1 * d1.im + kSin2 * d2.im};
    const Wave t2 = {kSin2 * d1.re - kSin1 * d2.re, kSin2 * d1.im - kSin1 * d2.im};
    a = {a[0] + s1 + s2, m1 + t1, m2 + t2, m2 - t2, m1 - t1};
  }
}

/// One factor: `near` numbers stay together (lines, times the factors before), `groups` are those behind.
template <size_t kCount>
void pass(const Wave* roots, int64_t lines, int64_t near, int64_t groups, const Wave* from, Wave* to) {
  constexpr auto kFactor = static_cast<int64_t>(kCount);
  for (int64_t p = 0; p < groups; ++p) {
    std::array<Wave, kCount> turns;
    for (int64_t k = 0; k < kFactor; ++k) turns[static_cast<size_t>(k)] = roots[p * k * (near / lines)];
    const Wave* in = from + p * near;
    Wave* out = to + p * kFactor * near;
    for (int64_t q = 0; q < near; ++q) {
      std::array<Wave, kCount> a;
      for (int64_t k = 0; k < kFactor; ++k) a[static_cast<size_t>(k)] = in[k * groups * near + q];
      sums(a);
      out[q] = a[0];
      for (size_t k = 1; k < kCount; ++k) out[static_cast<int64_t>(k) * near + q] = a[k] * turns[k];
    }
  }
}

void pass_of(int64_t factor, int64_t length, const Wave* roots, int64_t lines, int64_t near, int64_t groups,
             const Wave* from, Wave* to) {
  const int64_t step = length / factor;  // roots[step] is the factor's own
  for (int64_t p = 0; p < groups; ++p) {
    for (int64_t k = 0; k < factor; ++k) {
      const Wave turn = roots[p * k * (near / lines)];
      for (int64_t q = 0; q < near; ++q) {
        Wave sum;
        for (int64_t j = 0; j < factor; ++j)
          sum = sum + from[(p + j * groups) * near + q] * roots[j * k % factor * step];
        to[(p * factor + k) * near + q] = sum * turn;
      }
    }
  }
}

}  // namespace

FftLine::FftLine(int64_t length) : length_(length), inner_(length), factors_(factors_of(length)) {
  if (!factors_.empty() || length < 2) return;
  inner_ = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * length - 1)));
  factors_ = factors_of(inner_);
}

int64_t FftLine::table_size() const { return inner_ == length_ ? length_ : 4 * inner_ + length_; }

/// The roots; for Bluestein also the chirp exp(-pi i k^2 / length), and the transform of its conjugate, which two more
/// lines are needed for.
void FftLine::fill_table(Wave* table) const {
  for (int64_t k = 0; k < inner_; ++k) table[k] = root(k, inner_);
  if (inner_ == length_) return;
  Wave* chirp = table + inner_;
  Wave* filter = chirp + length_;
  // k^2 modulo 2 length, step by step: squares of long lines leave 64 bits
  for (int64_t k = 0, square = 0; k < length_; square = (square + 2 * k + 1) % (2 * length_), ++k) {
    chirp[k] = root(square, 2 * length_);
  }
  Wave* room = filter + inner_;
  std::fill_n(room, inner_, Wave{});
  for (int64_t k = 0; k < length_; ++k) {
    room[k] = conjugate(chirp[k]);
    if (k > 0) room[inner_ - k] = conjugate(chirp[k]);
  }
  const Wave* transformed = by_factors(table, 1, room, room + inner_);
  for (int64_t k = 0; k < inner_; ++k) {
    filter[k] = {transformed[k].re / static_cast<double>(inner_), transformed[k].im / static_cast<double>(inner_)};
  }
}

Wave* FftLine::by_factors(const Wave* roots, int64_t lines, Wave* from, Wave* to) const {
  int64_t near = lines, rest = inner_;
  for (const int64_t factor : factors_) {
    rest /= factor;
    switch (factor) {
      case 2: pass<2>(roots, lines, near, rest, from, to); break;
      case 3: pass<3>(roots, lines, near, rest, from, to); break;
      case 4: pass<4>(roots, lines, near, rest, from, to); break;
      case 5: pass<5>(roots, lines, near, rest, from, to); break;
      default: pass_of(factor, inner_, roots, lines, near, rest, from, to);
    }
    near *= factor;
    std::swap(from, to);
  }
  return from;
}

Wave* FftLine::transform(const Wave* table, int64_t lines, Wave* room) const {
  Wave* other = room + inner_ * lines;
  if (inner_ == length_) return by_factors(table, lines, room, other);
  const Wave* chirp = table + inner_;
  const Wave* filter = chirp + length_;
  for (int64_t k = 0; k < inner_; ++k) {
    for (int64_t b = 0; b < lines; ++b) {
      Wave& x = room[k * lines + b];
      x = k < length_ ? x * chirp[k] : Wave{};
    }
  }
  Wave* waves = by_factors(table, lines, room, other);
  // The inverse transform is the conjugate of the transform of the conjugates.
  for (int64_t k = 0; k < inner_; ++k) {
    for (int64_t b = 0; b < lines; ++b) waves[k * lines + b] = conjugate(waves[k * lines + b] * filter[k]);
  }
  waves = by_factors(table, lines, waves, waves == room ? other : room);
  for (int64_t k = 0; k < length_; ++k) {
    for (int64_t b = 0; b < lines; ++b) waves[k * lines + b] = conjugate(waves[k * lines + b]) * chirp[k];
  }
  return waves;
}

}  // namespace lowtide::engine
