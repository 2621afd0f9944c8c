#include "library/panel_qr.h"

#include <algorithm>

#include "lapack/blas.h"
#include "library/vectors.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kFewColumns = 8;  ///< that are factored one after another
constexpr int kAtOnce = 4;          ///< columns that use each loaded vector of v

/// sums[c] = v . column c
template <class T, int kBytes, int kColumns>
LT_INLINE inline void add_products(const T* v, int64_t rows, const T* columns, int64_t lead, T* sums) {
  using Vector = lowtide::engine::Vector<T, kBytes>;
  constexpr int kLanes = kBytes / static_cast<int>(sizeof(T));
  Vector across[kColumns] = {};
  int64_t i = 0;
  for (; i + kLanes <= rows; i += kLanes) {
    const auto element = load_vector<Vector>(v + i);
    LT_UNROLL for (int c = 0; c < kColumns; ++c) across[c] += element * load_vector<Vector>(columns + i + c * lead);
  }
  for (int c = 0; c < kColumns; ++c) {
    sums[c] = 0;
    for (int l = 0; l < kLanes; ++l) sums[c] += across[c][l];
    for (int64_t r = i; r < rows; ++r) sums[c] += v[r] * columns[r + c * lead];
  }
}

/// column c -= factors[c] v
template <class T, int kBytes, int kColumns>
LT_INLINE inline void subtract_multiples(const T* v, int64_t rows, const T* factors, T* columns, int64_t lead) {
  using Vector = lowtide::engine::Vector<T, kBytes>;
  constexpr int kLanes = kBytes / static_cast<int>(sizeof(T));
  int64_t i = 0;
  for (; i + kLanes <= rows; i += kLanes) {
    const auto element = load_vector<Vector>(v + i);
    LT_UNROLL for (int c = 0; c < kColumns; ++c) {
      T* at = columns + i + c * lead;
      store_vector(load_vector<Vector>(at) - element * factors[c], at);
    }
  }
  for (int c = 0; c < kColumns; ++c) {
    for (int64_t r = i; r < rows; ++r) columns[r + c * lead] -= factors[c] * v[r];
  }
}

/// Calls f.operator()<kColumns>(first column) for groups of all columns.
template <class F>
LT_INLINE inline void by_groups(int64_t columns, F&& f) {
  int64_t c = 0;
  for (; c + kAtOnce <= columns; c += kAtOnce) f.template operator()<kAtOnce>(c);
  for (; c < columns; ++c) f.template operator()<1>(c);
}

template <class T>
class Panel {
 public:
  Panel(T* a, int64_t lead, int64_t rows, T* taus, T* room, int64_t columns)
      : a_(a), lead_(lead), rows_(rows), taus_(taus), t_(room), t_lead_(columns), room_(room + columns * columns) {
    std::fill_n(t_, columns * columns, T(0));
  }

  /// Factors columns [first, first + count), to which the preceding reflectors have been applied. joined: also computes
  /// t, with which the product of the reflectors is 1 - v t v^T.
  void factor(int64_t first, int64_t count, bool joined) {
    if (count <= kFewColumns)
      return with_vectors([&]<int kBytes>() LT_INLINE { factor_few<kBytes>(first, count, joined); });
    const int64_t half = (count / 2 + kFewColumns - 1) / kFewColumns * kFewColumns, after = first + half;
    factor(first, half, true);
    Blas<T>::larfb('L', 'T', rows_ - first, count - half, half, at(first, first), lead_, t(first, first), t_lead_,
                   at(first, after), lead_, room_);
    factor(after, count - half, joined);
    if (joined) join(first, half, count - half);
  }

 private:
  template <int kBytes>
  LT_INLINE void factor_few(int64_t first, int64_t count, bool joined) {
    for (int64_t j = first; j < first + count; ++j) {
      const int64_t length = rows_ - j, after = first + count - j - 1;
      T* const v = at(j, j);
      const T tau = taus_[j] = Blas<T>::larfg(length, v, v + 1, 1);
      const T diagonal = *v;
      *v = 1;
      T sums[kFewColumns];
      by_groups(after, [&]<int kColumns>(int64_t c) LT_INLINE {
        T* const columns = v + (c + 1) * lead_;
        add_products<T, kBytes, kColumns>(v, length, columns, lead_, sums);
        for (int k = 0; k < kColumns; ++k) sums[k] *= tau;
        subtract_multiples<T, kBytes, kColumns>(v, length, sums, columns, lead_);
      });
      if (joined) {
        by_groups(j - first, [&]<int kColumns>(int64_t c) LT_INLINE {
          add_products<T, kBytes, kColumns>(v, length, at(j, first + c), lead_, sums + c);
        });
        for (int64_t c = 0; c < j - first; ++c) {
          for (int64_t r = 0; r <= c; ++r) *t(first + r, j) -= tau * *t(first + r, first + c) * sums[c];
        }
        *t(j, j) = tau;
      }
      *v = diagonal;
    }
  }

  /// The part of t above the diagonal blocks of its halves: -t1 (v1^T v2) t2.
  void join(int64_t first, int64_t half, int64_t rest) {
    const int64_t after = first + half, below = after + rest;
    T *const corner = room_, *const products = corner + rest * std::max(half, rest);
    for (int64_t c = 0; c < rest; ++c) {  // the top of v2, whose ones and zeros aren't stored
      for (int64_t r = 0; r < rest; ++r) corner[r + c * rest] = r > c ? *at(after + r, after + c) : T(r == c);
    }
    Blas<T>::gemm('T', 'N', half, rest, rest, 1, at(after, first), lead_, corner, rest, 0, products, half);
    Blas<T>::gemm('T', 'N', half, rest, rows_ - below, 1, at(below, first), lead_, at(below, after), lead_, 1, products,
                  half);
    Blas<T>::gemm('N', 'N', half, rest, rest, -1, products, half, t(after, after), t_lead_, 0, corner, half);
    Blas<T>::gemm('N', 'N', half, rest, half, 1, t(first, first), t_lead_, corner, half, 0, t(first, after), t_lead_);
  }

  T* at(int64_t row, int64_t column) const { return a_ + row + column * lead_; }
  T* t(int64_t row, int64_t column) const { return t_ + row + column * t_lead_; }

  T* a_;
  int64_t lead_, rows_;
  T *taus_, *t_;
  int64_t t_lead_;
  T* room_;
};

}  // namespace

template <class T>
void panel_qr(T* a, int64_t lead, int64_t rows, int64_t columns, T* taus, T* room) {
  Panel<T>(a, lead, rows, taus, room, columns).factor(0, columns, false);
}

template void panel_qr(float*, int64_t, int64_t, int64_t, float*, float*);
template void panel_qr(double*, int64_t, int64_t, int64_t, double*, double*);

}  // namespace lowtide::engine
