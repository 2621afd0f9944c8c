#include "library/fft_lanes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "library/fft_roots.h"
#include "library/vectors.h"

namespace lowtide::engine {
namespace {

/// As many complex numbers as a vector has lanes.
template <class V>
struct Waves {
  V re, im;
};
template <class V>
LT_INLINE inline Waves<V> operator+(const Waves<V>& a, const Waves<V>& b) {
  return {a.re + b.re, a.im + b.im};
}
template <class V>
LT_INLINE inline Waves<V> operator-(const Waves<V>& a, const Waves<V>& b) {
  return {a.re - b.re, a.im - b.im};
}
template <class V>
LT_INLINE inline Waves<V> times_minus_i(const Waves<V>& a) {
  return {a.im, -a.re};
}
/// a + by * b
template <class R, class V>
LT_INLINE inline Waves<V> add(const Waves<V>& a, R by, const Waves<V>& b) {
  return {a.re + by * b.re, a.im + by * b.im};
}

/// The transform of kCount numbers.
template <class R, size_t kCount, class V>
LT_INLINE inline void butterfly(std::array<Waves<V>, kCount>& a) {
  if constexpr (kCount == 2) {
    a = {a[0] + a[1], a[0] - a[1]};
  } else if constexpr (kCount == 3) {
    const Waves<V> sum = a[1] + a[2], turned = times_minus_i(a[1] - a[2]);
    const Waves<V> middle = add(a[0], R{-0.5}, sum);
    constexpr R kSine = static_cast<R>(std::numbers::sqrt3 / 2);
    a = {a[0] + sum, add(middle, kSine, turned), add(middle, -kSine, turned)};
  } else if constexpr (kCount == 4) {
    const Waves<V> even = a[0] + a[2], odd = a[1] + a[3], apart = a[0] - a[2], turned = times_minus_i(a[1] - a[3]);
    a = {even + odd, apart + turned, even - odd, apart - turned};
  } else if constexpr (kCount == 5) {
    constexpr R kCos1 = static_cast<R>(0.30901699437494742410), kCos2 = static_cast<R>(-0.80901699437494742410);
    constexpr R kSin1 = static_cast<R>(0.95105651629515357212), kSin2 = static_cast<R>(0.58778525229247312917);
    const Waves<V> s1 = a[1] + a[4], s2 = a[2] + a[3], d1 = times_minus_i(a[1] - a[4]), d2 = times_minus_i(a[2] - a[3]);
    const Waves<V> m1 = add(add(a[0], kCos1, s1), kCos2, s2), m2 = add(add(a[0], kCos2, s1), kCos1, s2);
    const Waves<V> zero{V{}, V{}};
    const Waves<V> t1 = add(add(zero, kSin1, d1), kSin2, d2), t2 = add(add(zero, kSin2, d1), -kSin1, d2);
    a = {a[0] + s1 + s2, m1 + t1, m2 + t2, m2 - t2, m1 - t1};
  } else {
    static_assert(kCount == 8);
    // Even results are the transform of sums, odd ones that of differences, each rotated by an eighth turn more.
    std::array<Waves<V>, 4> even, odd;
    for (size_t k = 0; k < 4; ++k) {
      even[k] = a[k] + a[k + 4];
      odd[k] = a[k] - a[k + 4];
    }
    constexpr R kHalf = static_cast<R>(std::numbers::sqrt2 / 2);
    odd[1] = {kHalf * (odd[1].re + odd[1].im), kHalf * (odd[1].im - odd[1].re)};
    odd[2] = times_minus_i(odd[2]);
    odd[3] = {kHalf * (odd[3].im - odd[3].re), -kHalf * (odd[3].re + odd[3].im)};
    butterfly<R>(even);
    butterfly<R>(odd);
    for (size_t k = 0; k < 4; ++k) {
      a[2 * k] = even[k];
      a[2 * k + 1] = odd[k];
    }
  }
}

/// Reads one element of as many lines as a register has lanes.
template <class V, class R>
LT_INLINE inline Waves<V> read(const R* row) {
  return {load_vector<V>(row), load_vector<V>(row + LaneFft<R>::kLanes)};
}
template <class V, class R>
LT_INLINE inline void write(const Waves<V>& waves, R* row) {
  store_vector(waves.re, row);
  store_vector(waves.im, row + LaneFft<R>::kLanes);
}
template <class V, class R>
LT_INLINE inline Waves<V> turned(const Waves<V>& a, const R* turn) {
  return {a.re * turn[0] - a.im * turn[1], a.re * turn[1] + a.im * turn[0]};
}

template <class R, int Bytes, size_t kFactor>
LT_INLINE inline void divide_by(R* rows, int64_t blocks, int64_t apart, const R* turns) {
  using V = Vector<R, Bytes>;
  constexpr int64_t kRow = LaneFft<R>::kRow, kStep = VectorOf<R, Bytes>::kLanes;
  const auto change = [&]<bool kTurns>(R* at, const R* turn) LT_INLINE {
    for (int64_t lane = 0; lane < LaneFft<R>::kLanes; lane += kStep) {
      std::array<Waves<V>, kFactor> a;
      LT_UNROLL for (size_t k = 0; k < kFactor; ++k) a[k] = read<V>(at + lane + static_cast<int64_t>(k) * apart * kRow);
      butterfly<R>(a);
      LT_UNROLL for (size_t k = 0; k < kFactor; ++k) {
        if constexpr (kTurns) {
          if (k > 0) a[k] = turned(a[k], turn + 2 * (k - 1));
        }
        write(a[k], at + lane + static_cast<int64_t>(k) * apart * kRow);
      }
    }
  };
  for (int64_t block = 0; block < blocks; ++block) {
    R* at = rows + block * static_cast<int64_t>(kFactor) * apart * kRow;
    change.template operator()<false>(at, nullptr);
    for (int64_t j = 1; j < apart; ++j) {
      change.template operator()<true>(at + j * kRow, turns + 2 * j * static_cast<int64_t>(kFactor - 1));
    }
  }
}

/// Divides by an odd prime: elements at equal distances from both ends are combined, and so are results.
template <class R, int Bytes>
LT_INLINE inline void divide_by_prime(int64_t factor, R* rows, int64_t blocks, int64_t apart, const R* turns,
                                      const R* sums) {
  using V = Vector<R, Bytes>;
  constexpr int64_t kRow = LaneFft<R>::kRow, kStep = VectorOf<R, Bytes>::kLanes;
  const int64_t half = factor / 2;
  for (int64_t block = 0; block < blocks; ++block) {
    for (int64_t j = 0; j < apart; ++j) {
      for (int64_t lane = 0; lane < LaneFft<R>::kLanes; lane += kStep) {
        R* at = rows + (block * factor * apart + j) * kRow + lane;
        const auto row = [&](int64_t k) LT_INLINE { return at + k * apart * kRow; };
        std::array<Waves<V>, kLargestFactor / 2> sum, difference;
        const Waves<V> first = read<V>(row(0));
        Waves<V> all = first;
        for (int64_t k = 1; k <= half; ++k) {
          const Waves<V> a = read<V>(row(k)), b = read<V>(row(factor - k));
          const auto at_k = static_cast<size_t>(k - 1);
          sum[at_k] = a + b;
          difference[at_k] = times_minus_i(a - b);
          all = all + sum[at_k];
        }
        write(all, row(0));
        for (int64_t k = 1; k <= half; ++k) {
          Waves<V> middle = first, side{V{}, V{}};
          for (int64_t i = 0; i < half; ++i) {
            const R* cosine_sine = sums + 2 * ((k - 1) * half + i);
            middle = add(middle, cosine_sine[0], sum[i]);
            side = add(side, cosine_sine[1], difference[i]);
          }
          const R* turn = turns + 2 * j * (factor - 1);
          write(turned(middle + side, turn + 2 * (k - 1)), row(k));
          write(turned(middle - side, turn + 2 * (factor - k - 1)), row(factor - k));
        }
      }
    }
  }
}

}  // namespace

template <class R>
LaneFft<R>::LaneFft(int64_t length) : length_(length) {
  places_ = {0};
  int64_t block = length;
  for (const int64_t factor : fft_factors(length)) {
    Pass pass{factor, block, {}, {}};
    const int64_t apart = block / factor;
    for (int64_t j = 0; j < apart; ++j) {
      for (int64_t k = 1; k < factor; ++k) {
        const Wave root = root_of_unity(j * k, block);
        pass.turns.push_back(static_cast<R>(root.re));
        pass.turns.push_back(static_cast<R>(root.im));
      }
    }
    for (int64_t k = 1; factor > 5 && factor != 8 && k <= factor / 2; ++k) {
      for (int64_t j = 1; j <= factor / 2; ++j) {
        const Wave root = root_of_unity(j * k % factor, factor);
        pass.sums.push_back(static_cast<R>(root.re));
        pass.sums.push_back(static_cast<R>(-root.im));
      }
    }
    passes_.push_back(std::move(pass));
    // Each pass finds the next digit of a result's index, from the least significant on, and stores the result in the
    // part of the block that this digit selects.
    std::vector<int32_t> places;
    for (int64_t k = 0; k < factor; ++k) {
      for (const int32_t place : places_) places.push_back(place + static_cast<int32_t>(k * apart));
    }
    places_ = std::move(places);
    block = apart;
  }
}

template <class R>
template <int Bytes>
LT_INLINE inline void LaneFft<R>::divide(const Pass& pass, R* rows, int64_t blocks) const {
  const int64_t apart = pass.length / pass.factor;
  const R* turns = pass.turns.data();
  switch (pass.factor) {
    case 2: return divide_by<R, Bytes, 2>(rows, blocks, apart, turns);
    case 3: return divide_by<R, Bytes, 3>(rows, blocks, apart, turns);
    case 4: return divide_by<R, Bytes, 4>(rows, blocks, apart, turns);
    case 5: return divide_by<R, Bytes, 5>(rows, blocks, apart, turns);
    case 8: return divide_by<R, Bytes, 8>(rows, blocks, apart, turns);
    default: return divide_by_prime<R, Bytes>(pass.factor, rows, blocks, apart, turns, pass.sums.data());
  }
}

template <class R>
void LaneFft<R>::run(R* rows) const {
  // Blocks that fit into half of a first-level cache go through all their passes before the next block does.
  constexpr int64_t kBlockRows = (int64_t{1} << 14) / (kRow * static_cast<int64_t>(sizeof(R)));
  with_vectors([&]<int Bytes>() LT_INLINE {
    size_t whole = 0;
    while (whole < passes_.size() && passes_[whole].length > kBlockRows) {
      divide<Bytes>(passes_[whole], rows, length_ / passes_[whole].length);
      ++whole;
    }
    if (whole == passes_.size()) return;
    const int64_t block = passes_[whole].length;
    for (int64_t at = 0; at < length_; at += block) {
      for (size_t k = whole; k < passes_.size(); ++k) {
        divide<Bytes>(passes_[k], rows + at * kRow, block / passes_[k].length);
      }
    }
  });
}

template class LaneFft<float>;
template class LaneFft<double>;

}  // namespace lowtide::engine
