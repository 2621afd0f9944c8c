#pragma once
/// Transforms of n = 2 h real numbers by one of h complex ones, whose real parts are the even elements and whose
/// imaginary parts are the odd ones (Cooley, Lewis and Welch, 1970): what that gives is separated into the transform of
/// the real numbers, and joined again on the way back.

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

  /// Elements k and half - k go together: there are this many of them.
  int64_t couples() const { return half_ / 2 + 1; }
  /// Couples [first, last) of a line of pairs. Separated: `half` elements make half + 1; joined: half + 1 make `half`,
  /// twice as large as they were. `to` may be `from`.
  void separate(const R* from, R* to, int64_t first, int64_t last) const;
  void join(const R* from, R* to, int64_t first, int64_t last) const;

  /// The same of whole rows of lanes. What is separated stands where `transform` left it; what is joined is written
  /// with its parts exchanged, for an inverse transform to follow.
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
  Roots roots_;           ///< of 2 half_
  std::vector<R> lanes_;  ///< exp(-2 pi i l / n) for the lanes of a row
};

}  // namespace lowtide::engine
