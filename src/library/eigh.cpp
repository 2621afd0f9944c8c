/// syevd of one large matrix: threads share the products of its reduction to tridiagonal form and of the transformation
/// back; in between is divide and conquer.
#include <algorithm>
#include <cmath>

#include "lapack/blas.h"
#include "library/block_reflectors.h"
#include "library/divide.h"
#include "library/far_numbers.h"
#include "library/lanes.h"
#include "library/shared_problem.h"
#include "library/tridiagonal.h"

namespace lowtide::engine {
namespace {

template <class T>
class SharedEigh : public SharedProblem {
 public:
  explicit SharedEigh(const LapackProblem& problem) : p_(problem), n_(problem.n), vectors_(problem.mode == 'V') {
    beside_ = take(n_);
    taus_ = take(n_);
    order_ = take(vectors_ ? n_ : 0);  // holds integers, which aren't longer
    vectors_at_ = take(vectors_ ? n_ * n_ : 0);
    room_ = taken_;
    // The steps run one after another and share this room.
    integers_ = room_ + align_scratch(DivideAndConquer<T>::reals(n_) * static_cast<int64_t>(sizeof(T)));
    const int64_t divides =
        integers_ + align_scratch(DivideAndConquer<T>::integers(n_) * static_cast<int64_t>(sizeof(int32_t)));
    bytes_ = room_ + align_scratch(Tridiagonal<T>::room(n_) * static_cast<int64_t>(sizeof(T)));
    const int64_t back = room_ + reflectors(nullptr, nullptr).room(n_) * static_cast<int64_t>(sizeof(T));
    if (vectors_) bytes_ = std::max({bytes_, divides, back});
  }

  int64_t scratch_bytes() const override { return bytes_; }

  void run(std::span<void* const> results, std::span<const void* const>, std::byte* scratch,
           ThreadPool& pool) const override {
    T* a = static_cast<T*>(results[0]);
    T* values = static_cast<T*>(results[1]);
    auto* info = static_cast<int32_t*>(results[2]);
    const auto part = [&](int64_t at) { return reinterpret_cast<T*>(scratch + at); };
    T *beside = part(beside_), *taus = part(taus_), *vectors = part(vectors_at_), *room = part(room_);
    const T unit = scale(a, pool);
    if (!std::isfinite(unit)) {  // the search for its eigenvalues might never end
      *info = p_.n;
      std::fill_n(values, n_, unit);
      std::fill_n(a, n_ * n_, unit);
      return;
    }
    Tridiagonal<T>::reduce(a, n_, values, beside, taus, room, pool);
    if (!vectors_) {
      *info = Blas<T>::sterf(n_, values, beside);
    } else {
      auto* order = reinterpret_cast<int32_t*>(scratch + order_);
      auto* integers = reinterpret_cast<int32_t*>(scratch + integers_);
      *info = DivideAndConquer<T>::solve(n_, values, beside, vectors, order, room, integers, pool);
      reflectors(a, taus).apply(n_, vectors + 1, n_, room, pool);
      pool.run(n_, [&](int64_t j, int) { std::copy_n(vectors + order[j] * n_, n_, a + j * n_); });
    }
    for (int64_t i = 0; i < n_; ++i) values[i] *= unit;
  }

 private:
  int64_t take(int64_t elements) {
    const int64_t at = taken_;
    taken_ += align_scratch(elements * static_cast<int64_t>(sizeof(T)));
    return at;
  }

  /// Makes the lower triangle that of a / unit, and returns the unit (far_numbers.h).
  T scale(T* a, ThreadPool& pool) const {
    T largest = 0, poison = 0;
    for (int64_t j = 0; j < n_; ++j) {
      for (int64_t i = j; i < n_; ++i) {
        const T x = p_.uplo == 'L' ? a[i + j * n_] : a[j + i * n_];
        a[i + j * n_] = x;
        largest = std::max(largest, std::fabs(x));
        poison += x * 0;
      }
    }
    const T unit = unit_for(largest, poison);
    if (unit == 1 || !std::isfinite(unit)) return unit;
    pool.run(n_, [&](int64_t j, int) {
      for (int64_t i = j; i < n_; ++i) a[i + j * n_] /= unit;
    });
    return unit;
  }

  /// Reflectors below a's off-diagonal. They leave the first row of the matrix that they are applied to unchanged.
  BlockReflectors<T> reflectors(const T* a, const T* taus) const {
    return {a != nullptr ? a + 1 : a, n_, n_ - 1, n_ - 1, taus};
  }

  LapackProblem p_;
  int64_t n_;
  bool vectors_;
  int64_t taken_ = 0, beside_ = 0, taus_ = 0, order_ = 0, vectors_at_ = 0, room_ = 0, integers_ = 0, bytes_ = 0;
};

}  // namespace

std::unique_ptr<SharedProblem> make_shared_eigh(const LapackProblem& problem) {
  constexpr int32_t kLeast = 256;
  return problem.n < kLeast ? nullptr : shared_of_type<SharedEigh>(problem);
}

}  // namespace lowtide::engine
