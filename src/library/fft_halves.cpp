#include "library/fft_halves.h"

namespace lowtide::engine {
namespace {

/// With s = a + conj(b), d = a - conj(b): element k is s + turn d, element half - k is conj(s - turn d); joining uses
/// the conjugate of turn.
template <bool kJoins, class T>
LT_INLINE inline void change_couple(T& a_re, T& a_im, T& b_re, T& b_im, const T& turn_re, const T& turn_im) {
  const T s_re = a_re + b_re, s_im = a_im - b_im, d_re = a_re - b_re, d_im = a_im + b_im;
  const T re = kJoins ? d_re * turn_re + d_im * turn_im : d_re * turn_re - d_im * turn_im;
  const T im = kJoins ? d_im * turn_re - d_re * turn_im : d_im * turn_re + d_re * turn_im;
  a_re = s_re + re, a_im = s_im + im;
  b_re = s_re - re, b_im = im - s_im;
}

}  // namespace

template <class R>
FftHalves<R>::FftHalves(int64_t half) : half_(half), roots_(2 * half), lanes_(static_cast<size_t>(kRow)) {
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    const Wave root = roots_[lane % (2 * half)];
    lanes_[lane] = static_cast<R>(root.re);
    lanes_[kLanes + lane] = static_cast<R>(root.im);
  }
}

template <class R>
template <bool kJoins>
void FftHalves<R>::change(const R* from, R* to, int64_t first, int64_t last) const {
  constexpr R kScale = kJoins ? R{1} : R{0.5};
  int64_t k = first;
  const auto change_one = [&] {
    const int64_t other = half_ - k, other_from = !kJoins && k == 0 ? 0 : other;
    const bool is_real = kJoins && k == 0;  // the imaginary parts of the first and the last element count as zero
    R a_re = from[2 * k], a_im = is_real ? R{} : from[2 * k + 1];
    R b_re = from[2 * other_from], b_im = is_real ? R{} : from[2 * other_from + 1];
    const Wave by = turn(k);
    change_couple<kJoins>(a_re, a_im, b_re, b_im, static_cast<R>(by.re), static_cast<R>(by.im));
    const bool is_end = !kJoins && k == 0;  // real for all numbers, including infinite ones
    to[2 * k] = kScale * a_re, to[2 * k + 1] = is_end ? R{} : kScale * a_im;
    if (kJoins && k == 0) return;
    to[2 * other] = kScale * b_re, to[2 * other + 1] = is_end ? R{} : kScale * b_im;
  };
  if (k == 0 && k < last) change_one(), ++k;
  with_vectors([&]<int Bytes>() LT_INLINE {
    using V = Vector<R, Bytes>;
    constexpr int64_t kStep = VectorOf<R, Bytes>::kLanes;
    using All = std::make_integer_sequence<int, kStep>;
    const V lanes_re = load_vector<V>(lanes_.data()), lanes_im = load_vector<V>(lanes_.data() + kLanes);
    // Both ends must not meet within a vector.
    for (; k + kStep <= last && 2 * (k + kStep) <= half_; k += kStep) {
      const int64_t other = half_ - k - kStep + 1;
      V a_re, a_im, b_re, b_im;
      read_pairs<V>(from + 2 * k, a_re, a_im);
      read_pairs<V>(from + 2 * other, b_re, b_im);
      b_re = rows::reversed(b_re, All{}), b_im = rows::reversed(b_im, All{});
      const Wave by = turn(k);
      const R by_re = static_cast<R>(by.re), by_im = static_cast<R>(by.im);
      const V turn_re = lanes_re * by_re - lanes_im * by_im, turn_im = lanes_re * by_im + lanes_im * by_re;
      change_couple<kJoins>(a_re, a_im, b_re, b_im, turn_re, turn_im);
      write_pairs<V>(kScale * a_re, kScale * a_im, to + 2 * k);
      b_re = rows::reversed(b_re, All{}), b_im = rows::reversed(b_im, All{});
      write_pairs<V>(kScale * b_re, kScale * b_im, to + 2 * other);
    }
  });
  for (; k < last; ++k) change_one();
}

template <class R>
template <bool kJoins>
void FftHalves<R>::change_rows(const R* a, const R* b, int64_t k, R* to) const {
  constexpr R kScale = kJoins ? R{1} : R{0.5};
  const Wave by = turn(k);
  // Joined elements are stored with real and imaginary parts exchanged.
  R* const to_a = to + k * kRow;
  R* const to_b = to + (half_ - k) * kRow;
  constexpr int64_t kRe = kJoins ? kLanes : 0, kIm = kJoins ? 0 : kLanes;
  with_vectors([&]<int Bytes>() LT_INLINE {
    using V = Vector<R, Bytes>;
    const V turn_re = V{} + static_cast<R>(by.re), turn_im = V{} + static_cast<R>(by.im);
    for (int64_t lane = 0; lane < kLanes; lane += VectorOf<R, Bytes>::kLanes) {
      V a_re = load_vector<V>(a + lane), a_im = load_vector<V>(a + kLanes + lane);
      V b_re = load_vector<V>(b + lane), b_im = load_vector<V>(b + kLanes + lane);
      // The ends of a real transform are real, even if numbers are infinite.
      if (kJoins && k == 0) a_im = b_im = V{};
      change_couple<kJoins>(a_re, a_im, b_re, b_im, turn_re, turn_im);
      if (!kJoins && k == 0) a_im = b_im = V{};
      store_vector<V>(kScale * a_re, to_a + kRe + lane);
      store_vector<V>(kScale * a_im, to_a + kIm + lane);
      if (kJoins && k == 0) continue;
      store_vector<V>(kScale * b_re, to_b + kRe + lane);
      store_vector<V>(kScale * b_im, to_b + kIm + lane);
    }
  });
}

template <class R>
void FftHalves<R>::separate(const R* from, R* to, int64_t first, int64_t last) const {
  change<false>(from, to, first, last);
}

template <class R>
void FftHalves<R>::join(const R* from, R* to, int64_t first, int64_t last) const {
  change<true>(from, to, first, last);
}

template <class R>
void FftHalves<R>::separate_rows(const R* from, const LaneFft<R>& transform, R* to) const {
  for (int64_t k = 0; k < couples(); ++k) {
    const int64_t other = k == 0 ? 0 : half_ - k;
    change_rows<false>(from + transform.place(k) * kRow, from + transform.place(other) * kRow, k, to);
  }
}

template <class R>
void FftHalves<R>::join_rows(const R* from, R* to) const {
  for (int64_t k = 0; k < couples(); ++k) change_rows<true>(from + k * kRow, from + (half_ - k) * kRow, k, to);
}

template class FftHalves<float>;
template class FftHalves<double>;

}  // namespace lowtide::engine
