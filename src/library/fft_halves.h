#pragma once
/// Transforms of n = 2 h real numbers by one of h complex numbers, whose real parts are the even elements and whose
/// imaginary parts are the odd ones (Cooley, Lewis and Welch, 1970): its result is separated into the transform of the
/// real numbers; the inverse joins it again before transforming.

#include <cstdint>
#include <vector>

#include "library/fft_lanes.h"
#include "library/fft_roots.h"
#include "library/fft_rows.h"

namespace lowtide::engine {

template <class R>
class FftHalves {
 public:
  static constexpr int64_t kLanes = LaneFft<R>::kLanes, kRow = LaneFft<R>::kRow;

  explicit FftHalves(int64_t half);

  /// The number of couples: elements k and half - k, which are computed together.
  int64_t couples() const { return half_ / 2 + 1; }
  /// Computes couples [first, last) of a line of (real, imaginary) pairs: separate() makes half + 1 elements of `half`,
  /// join() makes `half` of half + 1, twice their true size. `to` may be `from`.
  void separate(const R* from, R* to, int64_t first, int64_t last) const;
  void join(const R* from, R* to, int64_t first, int64_t last) const;

  /// The same for whole rows of lanes. separate_rows() reads elements where `transform` left them; join_rows() writes
  /// them with real and imaginary parts exchanged, for the inverse transform that follows.
  void separate_rows(const R* from, const LaneFft<R>& transform, R* to) const;
  void join_rows(const R* from, R* to) const;

 private:
  template <bool kJoins>
  void change(const R* from, R* to, int64_t first, int64_t last) const;
  template <bool kJoins>
  void change_rows(const R* a, const R* b, int64_t k, R* to) const;
  Wave turn(int64_t k) const {
    const Wave root = roots_[k];
    return {root.im, -root.re};  // -i exp(-2 pi i k / n)
  }

  int64_t half_;
  Roots roots_;           ///< of order 2 half_
  std::vector<R> lanes_;  ///< exp(-2 pi i l / n) for the lanes of a row
};

}  // namespace lowtide::engine
