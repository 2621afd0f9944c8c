#include "library/bidiagonal.h"

#include <algorithm>

#include "lapack/blas.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kPanel = 32;  ///< columns and rows whose reflectors are applied to the rest of the matrix together
constexpr int64_t kShare = 64;  ///< rows or columns of a product with a vector that are one task
constexpr int64_t kLeastShared = int64_t{1} << 15;  ///< least size, in elements, of a matrix that is worth several
constexpr int64_t kTile = 128;                      ///< of updates of the rest of the matrix

template <class T>
class Reduction {
 public:
  Reduction(T* a, int64_t m, int64_t n, T* room, ThreadPool& pool) : a_(a), m_(m), n_(n), pool_(pool) {
    // For a panel: a -= v y^T + x u^T; v and x are adjacent, and so are y and u.
    tall_ = room;
    wide_ = tall_ + m * 2 * kPanel;
    sums_ = wide_ + n * 2 * kPanel;
  }

  void run(T* diagonal, T* beside, T* left_taus, T* right_taus) {
    for (int64_t k = 0; k < n_; k += kPanel) {
      const int64_t end = std::min(k + kPanel, n_);
      for (int64_t i = k; i < end; ++i) {
        diagonal[i] = reduce_column(k, i, left_taus[i]);
        if (i + 1 < n_) beside[i] = reduce_row(k, i, left_taus[i], right_taus[i]);
      }
      if (end < n_) update_rest(end);
    }
  }

 private:
  T* at(int64_t i, int64_t j) const { return a_ + i + j * m_; }
  // Row i of the factors of the panel's update; element j is j * m, or j * n, further.
  T* v(int64_t i, int64_t j) const { return tall_ + i + j * m_; }
  T* x(int64_t i, int64_t j) const { return tall_ + i + (kPanel + j) * m_; }
  T* y(int64_t i, int64_t j) const { return wide_ + i + j * n_; }
  T* u(int64_t i, int64_t j) const { return wide_ + i + (kPanel + j) * n_; }

  /// to -= a (b^T c): a and b of `columns` columns.
  void take(const T* a, int64_t a_lead, int64_t rows, const T* b, int64_t b_lead, const T* c, int64_t depth,
            int64_t columns, T* to) {
    std::fill_n(sums_, kPanel, T(0));
    Blas<T>::gemv('T', depth, columns, 1, b, b_lead, c, 1, 1, sums_, 1);
    Blas<T>::gemv('N', rows, columns, -1, a, a_lead, sums_, 1, 1, to, 1);
  }

  T reduce_column(int64_t k, int64_t i, T& tau) {
    const int64_t count = i - k, rows = m_ - i;
    Blas<T>::gemv('N', rows, count, -1, v(i, 0), m_, y(i, 0), n_, 1, at(i, i), 1);
    Blas<T>::gemv('N', rows, count, -1, x(i, 0), m_, u(i, 0), n_, 1, at(i, i), 1);
    tau = Blas<T>::larfg(rows, at(i, i), at(i, i) + 1, 1);
    T* kept = v(i, count);
    std::copy_n(at(i, i), rows, kept);
    kept[0] = 1;
    return *at(i, i);
  }

  T reduce_row(int64_t k, int64_t i, T left_tau, T& tau) {
    const int64_t count = i - k, rows = m_ - i, below = rows - 1, first = i + 1, columns = n_ - first;
    const T* left = v(i, count);
    T* to = y(first, count);
    share(rows, columns, columns, [&](int64_t from, int64_t some) {
      std::fill_n(to + from, some, T(0));
      Blas<T>::gemv('T', rows, some, 1, at(i, first + from), m_, left, 1, 1, to + from, 1);
    });
    take(y(first, 0), n_, columns, v(i, 0), m_, left, rows, count, to);
    take(u(first, 0), n_, columns, x(i, 0), m_, left, rows, count, to);
    for (int64_t j = 0; j < columns; ++j) to[j] *= left_tau;

    T* row = u(first, count);  // contiguous copy
    for (int64_t j = 0; j < columns; ++j) row[j] = *at(i, first + j);
    Blas<T>::gemv('N', columns, count + 1, -1, y(first, 0), n_, v(i, 0), m_, 1, row, 1);
    Blas<T>::gemv('N', columns, count, -1, u(first, 0), n_, x(i, 0), m_, 1, row, 1);
    tau = Blas<T>::larfg(columns, row, row + 1, 1);
    const T beside = row[0];
    for (int64_t j = 0; j < columns; ++j) *at(i, first + j) = row[j];
    row[0] = 1;

    T* down = x(first, count);
    share(below, columns, below, [&](int64_t from, int64_t some) {
      std::fill_n(down + from, some, T(0));
      Blas<T>::gemv('N', some, columns, 1, at(first + from, first), m_, row, 1, 1, down + from, 1);
    });
    take(v(first, 0), m_, below, y(first, 0), n_, row, columns, count + 1, down);
    take(x(first, 0), m_, below, u(first, 0), n_, row, columns, count, down);
    for (int64_t r = 0; r < below; ++r) down[r] *= tau;
    return beside;
  }

  /// f(first, count) for shares of `extent`, the rows or columns of a matrix.
  template <class F>
  void share(int64_t rows, int64_t columns, int64_t extent, F&& f) {
    const int64_t part = rows * columns < kLeastShared ? std::max<int64_t>(extent, 1) : kShare;
    pool_.run((extent + part - 1) / part,
              [&](int64_t task, int) { f(task * part, std::min(part, extent - task * part)); });
  }

  void update_rest(int64_t first) {
    const int64_t down = (m_ - first + kTile - 1) / kTile, across = (n_ - first + kTile - 1) / kTile;
    pool_.run(down * across, [&](int64_t tile, int) {
      const int64_t i = first + tile % down * kTile, j = first + tile / down * kTile;
      Blas<T>::gemm('N', 'T', std::min(kTile, m_ - i), std::min(kTile, n_ - j), 2 * kPanel, -1, tall_ + i, m_,
                    wide_ + j, n_, 1, at(i, j), m_);
    });
  }

  T* a_;
  int64_t m_, n_;
  T *tall_, *wide_, *sums_;
  ThreadPool& pool_;
};

}  // namespace

template <class T>
int64_t Bidiagonal<T>::room(int64_t m, int64_t n) {
  return (m + n) * 2 * kPanel + kPanel;
}

template <class T>
void Bidiagonal<T>::reduce(T* a, int64_t m, int64_t n, T* diagonal, T* beside, T* left_taus, T* right_taus, T* room,
                           ThreadPool& pool) {
  Reduction<T>(a, m, n, room, pool).run(diagonal, beside, left_taus, right_taus);
}

template class Bidiagonal<float>;
template class Bidiagonal<double>;

}  // namespace lowtide::engine
