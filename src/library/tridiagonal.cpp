#include "library/tridiagonal.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>

#include "lapack/blas.h"
#include "library/symmetric_kernel.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kPanel = 32;          ///< columns whose reflectors are applied to the rest of the matrix together
constexpr int64_t kStripes = 8;         ///< of a product with a vector, with about equal work
constexpr int64_t kLeastStriped = 192;  ///< least order of a matrix that is worth stripes
constexpr int64_t kTile = 128;          ///< of updates of the rest of the matrix

template <class T>
class Reduction {
 public:
  Reduction(T* a, int64_t n, T* room, ThreadPool& pool) : a_(a), n_(n), pool_(pool) {
    both_ = room;  // the reflectors of a panel, followed by w
    swapped_ = both_ + n * 2 * kPanel;
    parts_ = swapped_ + n * 2 * kPanel;
    sums_ = parts_ + n * kStripes;
  }

  void run(T* diagonal, T* beside, T* taus) {
    for (int64_t k = 0; k < n_; k += kPanel) {
      const int64_t end = std::min(k + kPanel, n_);
      for (int64_t i = k; i < end; ++i) {
        update_column(k, i);
        diagonal[i] = at(i, i)[0];
        if (i + 1 == n_) break;
        T* v = at(i + 1, i);
        taus[i] = Blas<T>::larfg(n_ - i - 1, v, v + 1, 1);
        beside[i] = v[0];
        v[0] = 1;
        add_pair(k, i, taus[i]);
      }
      if (end < n_) update_rest(end);
      for (int64_t i = k; i < end && i + 1 < n_; ++i) at(i + 1, i)[0] = beside[i];
    }
  }

 private:
  T* at(int64_t i, int64_t j) const { return a_ + i + j * n_; }
  // Row i of the panel's reflectors and of w; element j is j * n further.
  T* reflector(int64_t i, int64_t j) const { return both_ + i + j * n_; }
  T* partner(int64_t i, int64_t j) const { return both_ + i + (kPanel + j) * n_; }

  /// Applies this panel's reflectors to column i: a -= v w^T + w v^T.
  void update_column(int64_t k, int64_t i) {
    const int64_t count = i - k, rows = n_ - i;
    Blas<T>::gemv('N', rows, count, -1, reflector(i, 0), n_, partner(i, 0), n_, 1, at(i, i), 1);
    Blas<T>::gemv('N', rows, count, -1, partner(i, 0), n_, reflector(i, 0), n_, 1, at(i, i), 1);
  }

  /// w = p - tau/2 (p^T v) v, p = tau (a - v w^T - w v^T) v, where a is the matrix at the start of this panel.
  void add_pair(int64_t k, int64_t i, T tau) {
    const int64_t count = i - k, first = i + 1, rows = n_ - first;
    const T* v = at(first, i);
    T* w = partner(first, count);
    multiply_rest(first, v, w);
    std::fill_n(sums_, 2 * kPanel, T(0));
    Blas<T>::gemv('T', rows, count, 1, partner(first, 0), n_, v, 1, 1, sums_, 1);
    Blas<T>::gemv('N', rows, count, -1, reflector(first, 0), n_, sums_, 1, 1, w, 1);
    Blas<T>::gemv('T', rows, count, 1, reflector(first, 0), n_, v, 1, 1, sums_ + kPanel, 1);
    Blas<T>::gemv('N', rows, count, -1, partner(first, 0), n_, sums_ + kPanel, 1, 1, w, 1);
    T product = 0;
    Blas<T>::gemv('T', rows, 1, 1, w, n_, v, 1, 1, &product, 1);
    const T along = tau * tau * product / 2;
    T* kept = reflector(first, count);
    for (int64_t r = 0; r < rows; ++r) {
      w[r] = tau * w[r] - along * v[r];
      kept[r] = v[r];
    }
    // The next column reads row `first` of both; rows above are never read.
  }

  /// w = a v, for the symmetric rest from row `first` on. Each stripe of columns has its own sums for all rows.
  void multiply_rest(int64_t first, const T* v, T* w) {
    const int64_t rows = n_ - first;
    const int64_t stripes = rows < kLeastStriped ? 1 : kStripes;
    // Columns get shorter: stripes are equal shares of the triangle.
    const auto begin = [&](int64_t stripe) {
      const double rest = 1 - static_cast<double>(stripe) / static_cast<double>(stripes);
      return rows - static_cast<int64_t>(static_cast<double>(rows) * std::sqrt(rest));
    };
    // Any thread may take any stripe, but starts with the one it had for the previous vector, which is in its cache.
    std::array<std::atomic<bool>, kStripes> begun = {};
    pool_.run(stripes, [&](int64_t, int thread) {
      int64_t stripe = thread * stripes / pool_.threads();
      while (begun[stripe].exchange(true, std::memory_order_relaxed)) {
        stripe = (stripe + 1) % stripes;
      }
      T* sums = parts_ + stripe * n_;
      std::fill(sums + begin(stripe), sums + rows, T(0));
      add_symmetric_product(at(first, first), n_, rows, begin(stripe), begin(stripe + 1), v, sums);
    });
    std::copy_n(parts_, rows, w);
    for (int64_t stripe = 1; stripe < stripes; ++stripe) {
      const T* sums = parts_ + stripe * n_;
      for (int64_t r = begin(stripe); r < rows; ++r) w[r] += sums[r];
    }
  }

  /// a -= v w^T + w v^T as one product: (v, w) times (w, v)^T.
  void update_rest(int64_t first) {
    const int64_t rows = n_ - first, blocks = (rows + kTile - 1) / kTile;
    pool_.run(2 * kPanel, [&](int64_t j, int) {
      const int64_t other = (j + kPanel) % (2 * kPanel);
      std::copy_n(both_ + first + j * n_, rows, swapped_ + first + other * n_);
    });
    pool_.run(blocks * (blocks + 1) / 2, [&](int64_t pair, int) {
      int64_t far = 0;
      while ((far + 1) * (far + 2) / 2 <= pair) ++far;
      const int64_t i = first + far * kTile, j = first + (pair - far * (far + 1) / 2) * kTile;
      Blas<T>::gemm('N', 'T', std::min(kTile, n_ - i), std::min(kTile, n_ - j), 2 * kPanel, -1, both_ + i, n_,
                    swapped_ + j, n_, 1, at(i, j), n_);
    });
  }

  T* a_;
  int64_t n_;
  T *both_, *swapped_, *parts_, *sums_;
  ThreadPool& pool_;
};

}  // namespace

template <class T>
int64_t Tridiagonal<T>::room(int64_t n) {
  return n * (4 * kPanel + kStripes) + 2 * kPanel;
}

template <class T>
void Tridiagonal<T>::reduce(T* a, int64_t n, T* diagonal, T* beside, T* taus, T* room, ThreadPool& pool) {
  Reduction<T>(a, n, room, pool).run(diagonal, beside, taus);
}

template class Tridiagonal<float>;
template class Tridiagonal<double>;

}  // namespace lowtide::engine
