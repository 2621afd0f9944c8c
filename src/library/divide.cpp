#include "library/divide.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "lapack/blas.h"
#include "library/lanes.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kLeast = 64;      ///< least order of a part, which one thread solves
constexpr int64_t kMostParts = 16;  ///< a power of two
constexpr int64_t kColumns = 32;    ///< eigenvectors that one task computes
constexpr int64_t kMostLanes = 8;   ///< lanes of a merge, each with room for kColumns columns
constexpr int64_t kRealsBeside = 5 + kColumns * kMostLanes, kIntegersBeside = 8;  ///< per row, in addition to n

int64_t parts_of(int64_t n) {
  int64_t parts = 1;
  while (parts < kMostParts && n / (2 * parts) >= kLeast) parts *= 2;
  return parts;
}

/// Keeps the largest info of several tasks, whatever their order.
void keep_largest(std::atomic<int32_t>& largest, int32_t x) {
  int32_t found = largest.load(std::memory_order_relaxed);
  while (found < x && !largest.compare_exchange_weak(found, x, std::memory_order_relaxed)) {
  }
}

/// One of the parts, or several parts after merging.
template <class T>
struct Part {
  int64_t n;
  T* diagonal;
  T* vectors;  ///< n x n block of a larger matrix
  int64_t lead;
  int32_t* order;  ///< of the diagonal, from 1
  T* reals;
  int32_t* integers;
};

template <class T>
class Merge {
 public:
  /// Merges a part whose first `first` rows and remaining rows are solved; `joint` is the off-diagonal element between
  /// them.
  Merge(const Part<T>& part, int64_t first, T joint, ThreadPool& pool) : p_(part), first_(first), pool_(pool) {
    const int64_t n = p_.n;
    z_ = p_.reals;
    to_.joint = joint;
    to_.poles = z_ + n;
    to_.weights = to_.poles + n;
    vector_ = to_.weights + n;
    to_.columns = vector_ + n;
    lanes_ = to_.columns + n * n;
    to_.indices = p_.integers;
    to_.grouped = to_.indices + n;
    to_.groups = to_.grouped + n;
    to_.order = to_.groups + n;
  }

  int32_t run() {
    const int64_t n = p_.n;
    for (int64_t j = 0; j < n; ++j) z_[j] = *at(j < first_ ? first_ - 1 : first_, j);
    Blas<T>::laed2(n, first_, p_.diagonal, p_.vectors, p_.lead, p_.order, z_, to_);
    if (to_.count == 0) {
      for (int64_t i = 0; i < n; ++i) p_.order[i] = static_cast<int32_t>(i + 1);
      return 0;
    }
    const int32_t info = find_roots();
    if (info != 0) return info;
    if (to_.count > 2) find_vector();
    make_columns();
    Blas<T>::lamrg(to_.count, n - to_.count, p_.diagonal, p_.order);
    return 0;
  }

 private:
  T* at(int64_t i, int64_t j) const { return p_.vectors + i + j * p_.lead; }
  int64_t tasks() const { return (to_.count + kColumns - 1) / kColumns; }
  template <class F>
  void for_columns(int64_t task, F&& f) const {
    for (int64_t j = task * kColumns; j < std::min<int64_t>((task + 1) * kColumns, to_.count); ++j) f(j);
  }

  /// Column j receives the distances of root j to all poles.
  int32_t find_roots() {
    std::atomic<int32_t> info = 0;
    pool_.run(tasks(), [&](int64_t task, int) {
      for_columns(task, [&](int64_t j) { keep_largest(info, Blas<T>::laed4(to_, j, at(0, j), p_.diagonal + j)); });
    });
    return info;
  }

  /// The weights whose roots are exactly those found (Gu and Eisenstat): with them, eigenvectors are orthogonal.
  void find_vector() {
    const int64_t count = to_.count;
    pool_.run(tasks(), [&](int64_t task, int) {
      for_columns(task, [&](int64_t i) { vector_[i] = *at(i, i); });
      for (int64_t j = 0; j < count; ++j) {
        const T* distances = at(0, j);
        for_columns(task, [&](int64_t i) {
          if (i != j) vector_[i] *= distances[i] / (to_.poles[i] - to_.poles[j]);
        });
      }
      for_columns(task, [&](int64_t i) { vector_[i] = std::copysign(std::sqrt(-vector_[i]), to_.weights[i]); });
    });
  }

  /// Multiplies the vectors of both parts with the eigenvectors of the joint problem, in laed2's grouped order.
  void make_columns() {
    const int64_t count = to_.count, rest = p_.n - first_;
    const int64_t upper = to_.groups[0] + to_.groups[1], lower = to_.groups[1] + to_.groups[2];
    const T* lower_columns = to_.columns + first_ * upper;
    Lanes lanes;
    lanes.tasks = tasks();
    lanes.bytes = align_scratch(p_.n * kColumns * static_cast<int64_t>(sizeof(T)));
    lanes.count = std::min(lanes.tasks, kMostLanes);
    lanes.run(pool_, lanes_, [&](int64_t task, std::byte* own) {
      T* factors = reinterpret_cast<T*>(own);
      const int64_t begin = task * kColumns, columns = std::min(kColumns, count - begin);
      for_columns(task, [&](int64_t j) { make_factors(j, factors + (j - begin) * count); });
      T* to = at(0, begin);
      for (int64_t j = 0; j < columns; ++j) std::fill_n(to + j * p_.lead, p_.n, T(0));
      multiply(first_, columns, upper, to_.columns, factors, to);
      multiply(rest, columns, lower, lower_columns, factors + to_.groups[0], to + first_);
    });
  }

  void make_factors(int64_t j, T* factors) const {
    const int64_t count = to_.count;
    T* distances = at(0, j);
    if (count > 2) {
      for (int64_t i = 0; i < count; ++i) distances[i] = vector_[i] / distances[i];
    }
    T square = 0;  // the largest elements are near 1
    for (int64_t i = 0; i < count; ++i) square += distances[i] * distances[i];
    const T length = count > 2 ? std::sqrt(square) : T(1);
    for (int64_t i = 0; i < count; ++i) factors[i] = distances[to_.grouped[i] - 1] / length;
  }

  void multiply(int64_t rows, int64_t columns, int64_t depth, const T* a, const T* factors, T* to) const {
    if (rows == 0 || depth == 0) return;
    Blas<T>::gemm('N', 'N', rows, columns, depth, 1, a, rows, factors, to_.count, 0, to, p_.lead);
  }

  Part<T> p_;
  int64_t first_;
  ThreadPool& pool_;
  T *z_, *vector_, *lanes_;
  typename Blas<T>::Deflation to_;
};

}  // namespace

template <class T>
int64_t DivideAndConquer<T>::reals(int64_t n) {
  return n * (n + kRealsBeside) + n;
}

template <class T>
int64_t DivideAndConquer<T>::integers(int64_t n) {
  return n * kIntegersBeside;
}

template <class T>
int32_t DivideAndConquer<T>::solve(int64_t n, T* diagonal, T* beside, T* vectors, int32_t* order, T* reals,
                                   int32_t* integers, ThreadPool& pool) {
  const int64_t parts = parts_of(n);
  const auto begin = [&](int64_t part) { return part * n / parts; };
  const auto part_of = [&](int64_t from, int64_t to) {
    const int64_t at = begin(from), end = begin(to);
    return Part<T>{end - at,
                   diagonal + at,
                   vectors + at * (n + 1),
                   n,
                   order + at,
                   reals + at * (n + kRealsBeside),
                   integers + at * kIntegersBeside};
  };
  std::atomic<int32_t> info = 0;
  pool.run(n, [&](int64_t j, int) { std::fill_n(vectors + j * n, n, T(0)); });
  for (int64_t part = 1; part < parts; ++part) {
    const T joint = std::fabs(beside[begin(part) - 1]);
    diagonal[begin(part) - 1] -= joint;
    diagonal[begin(part)] -= joint;
  }
  pool.run(parts, [&](int64_t index, int) {
    const Part<T> part = part_of(index, index + 1);
    keep_largest(info, Blas<T>::stedc(part.n, part.diagonal, beside + begin(index), part.vectors, part.lead, part.reals,
                                      part.integers));
    for (int64_t i = 0; i < part.n; ++i) part.order[i] = static_cast<int32_t>(i + 1);
  });
  for (int64_t width = 2; width <= parts && info == 0; width *= 2) {
    pool.run(parts / width, [&](int64_t index, int) {
      const int64_t from = index * width, middle = from + width / 2;
      const Part<T> part = part_of(from, from + width);
      keep_largest(info, Merge<T>(part, begin(middle) - begin(from), beside[begin(middle) - 1], pool).run());
    });
  }
  for (int64_t i = 0; i < n; ++i) --order[i];
  for (int64_t i = 0; i < n; ++i) reals[i] = diagonal[order[i]];
  std::copy_n(reals, n, diagonal);
  return info;
}

template struct DivideAndConquer<float>;
template struct DivideAndConquer<double>;

}  // namespace lowtide::engine
