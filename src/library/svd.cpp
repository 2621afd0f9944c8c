/// gesdd of one large, nearly square matrix: threads share the products of its reduction to bidiagonal form and of the
/// transformation back; in between is LAPACK's divide and conquer.
#include <algorithm>
#include <cmath>

#include "lapack/blas.h"
#include "library/bidiagonal.h"
#include "library/block_reflectors.h"
#include "library/far_numbers.h"
#include "library/lanes.h"
#include "library/shared_problem.h"

namespace lowtide::engine {
namespace {

template <class T>
class SharedSvd : public SharedProblem {
 public:
  explicit SharedSvd(const LapackProblem& problem) : p_(problem), m_(problem.m), n_(problem.n) {
    lefts_ = p_.k != 0 ? m_ : n_;
    beside_ = take(n_);
    left_taus_ = take(n_);
    right_taus_ = take(n_);
    room_ = taken_;
    // The steps run one after another and share this room.
    integers_ = room_ + align_scratch(Blas<T>::bdsdc_reals(n_, vectors()) * kBytes);
    bytes_ = std::max(integers_ + align_scratch(Blas<T>::bdsdc_integers(n_) * int64_t{sizeof(int32_t)}),
                      room_ + align_scratch(Bidiagonal<T>::room(m_, n_) * kBytes));
    const int64_t back = std::max(of_left(nullptr, nullptr).room(lefts_), of_right(nullptr, nullptr).room(n_));
    if (vectors()) bytes_ = std::max(bytes_, room_ + back * kBytes);
  }

  int64_t scratch_bytes() const override { return bytes_; }

  void run(std::span<void* const> results, std::span<const void* const>, std::byte* scratch,
           ThreadPool& pool) const override {
    const auto result = [&](size_t r) { return static_cast<T*>(results[r]); };
    const auto part = [&](int64_t at) { return reinterpret_cast<T*>(scratch + at); };
    T *a = result(0), *values = result(1), *left = result(2), *right = result(3);
    auto& info = *static_cast<int32_t*>(results[4]);
    std::fill_n(left, m_ * lefts_, T(0));
    std::fill_n(right, n_ * (p_.k != 0 ? n_ : std::min(m_, n_)), T(0));
    const T unit = scale(a, pool);
    if (!std::isfinite(unit)) {  // as LAPACK reports it
      info = -4;
      std::fill_n(values, n_, unit);
      return;
    }
    T* room = part(room_);
    Bidiagonal<T>::reduce(a, m_, n_, values, part(beside_), part(left_taus_), part(right_taus_), room, pool);
    info = Blas<T>::bdsdc(n_, values, part(beside_), vectors() ? left : nullptr, m_, right, n_, room,
                          reinterpret_cast<int32_t*>(scratch + integers_));
    if (vectors()) {
      for (int64_t j = n_; j < lefts_; ++j) left[j + j * m_] = 1;
      of_left(a, part(left_taus_)).apply(lefts_, left, m_, room, pool);
      of_right(a, part(right_taus_)).apply(n_, right + n_, n_, room, pool);  // the first column of `right` stays
    }
    for (int64_t i = 0; i < n_; ++i) values[i] *= unit;
  }

 private:
  static constexpr int64_t kBytes = sizeof(T);
  bool vectors() const { return p_.mode != 'N'; }

  int64_t take(int64_t elements) {
    const int64_t at = taken_;
    taken_ += align_scratch(elements * kBytes);
    return at;
  }

  /// Divides a by its unit (far_numbers.h), and returns the unit.
  T scale(T* a, ThreadPool& pool) const {
    T largest = 0, poison = 0;
    for (int64_t i = 0; i < m_ * n_; ++i) {
      largest = std::max(largest, std::fabs(a[i]));
      poison += a[i] * 0;
    }
    const T unit = unit_for(largest, poison);
    if (unit == 1 || !std::isfinite(unit)) return unit;
    pool.run(n_, [&](int64_t j, int) {
      for (int64_t i = 0; i < m_; ++i) a[i + j * m_] /= unit;
    });
    return unit;
  }

  BlockReflectors<T> of_left(const T* a, const T* taus) const { return {a, m_, m_, n_, taus}; }
  /// Reflectors in rows, right of a's superdiagonal.
  BlockReflectors<T> of_right(const T* a, const T* taus) const {
    return {a != nullptr ? a + m_ : a, m_, n_ - 1, n_ - 1, taus, true};
  }

  LapackProblem p_;
  int64_t m_, n_, lefts_ = 0;
  int64_t taken_ = 0, beside_ = 0, left_taus_ = 0, right_taus_ = 0, room_ = 0, integers_ = 0, bytes_ = 0;
};

}  // namespace

std::unique_ptr<SharedProblem> make_shared_svd(const LapackProblem& problem) {
  constexpr int32_t kLeast = 256;
  // LAPACK first factors matrices with more rows orthogonally.
  const bool about_square = problem.m >= problem.n && problem.m < problem.n * int64_t{11} / 6;
  return problem.n < kLeast || !about_square ? nullptr : shared_of_type<SharedSvd>(problem);
}

}  // namespace lowtide::engine
