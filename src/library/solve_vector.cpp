#include "library/solve_vector.h"

#include <algorithm>

#include "library/vectors.h"

namespace lowtide::engine {
namespace {

constexpr int kRows = 8;  ///< read together, so that their sums don't wait for each other

/// Rows of the triangle that are solved together, and the columns beside them in which other unknowns lie.
struct Step {
  int64_t row = 0, rows = 0;
  int64_t column = 0, columns = 0;
};

template <class R>
LT_INLINE inline R sum_of_lanes(const R* lanes, int count) {
  R sum = 0;
  for (int k = 0; k < count; ++k) sum += lanes[k];
  return sum;
}

/// sums[r] = matrix[row + r, columns] . x[columns]
template <int kBytes, class R>
LT_INLINE inline void multiply_rows(const R* matrix, int64_t n, const Step& step, const R* x, R* sums) {
  using V = Vector<R, kBytes>;
  constexpr int kLanes = kBytes / static_cast<int>(sizeof(R));
  const int64_t end = step.column + step.columns, whole = step.column + step.columns / kLanes * kLanes;
  const R* rows[kRows];
  V partial[kRows] = {};
  for (int r = 0; r < kRows; ++r) rows[r] = matrix + (step.row + std::min<int64_t>(r, step.rows - 1)) * n;
  for (int64_t c = step.column; c < whole; c += kLanes) {
    const V at = load_vector<V>(x + c);
    LT_UNROLL for (int r = 0; r < kRows; ++r) partial[r] += load_vector<V>(rows[r] + c) * at;
  }
  for (int r = 0; r < kRows; ++r) {
    R lanes[kLanes];
    store_vector(partial[r], lanes);
    sums[r] = sum_of_lanes(lanes, kLanes);
    for (int64_t c = whole; c < end; ++c) sums[r] += rows[r][c] * x[c];
  }
}

/// x[columns] -= sum over r of matrix[row + r, columns] * x[row + r]
template <int kBytes, class R>
LT_INLINE inline void subtract_rows(const R* matrix, int64_t n, const Step& step, R* x) {
  using V = Vector<R, kBytes>;
  constexpr int kLanes = kBytes / static_cast<int>(sizeof(R));
  const int64_t end = step.column + step.columns, whole = step.column + step.columns / kLanes * kLanes;
  const R* rows[kRows];
  R factors[kRows];
  for (int64_t r = 0; r < kRows; ++r) {
    rows[r] = matrix + (step.row + std::min(r, step.rows - 1)) * n;
    factors[r] = r < step.rows ? x[step.row + r] : 0;
  }
  for (int64_t c = step.column; c < whole; c += kLanes) {
    V at = load_vector<V>(x + c);
    LT_UNROLL for (int r = 0; r < kRows; ++r) at -= load_vector<V>(rows[r] + c) * factors[r];
    store_vector(at, x + c);
  }
  for (int64_t c = whole; c < end; ++c) {
    for (int64_t r = 0; r < step.rows; ++r) x[c] -= rows[r][c] * factors[r];
  }
}

/// The unknowns of one step, by elements within its rows.
template <class R>
LT_INLINE inline void solve_corner(const R* matrix, int64_t n, const Step& step, TriangleForm form, R* x) {
  const bool ascends = form.is_lower != form.is_transposed;
  for (int64_t k = 0; k < step.rows; ++k) {
    const int64_t at = step.row + (ascends ? k : step.rows - 1 - k);
    if (!form.has_unit_diagonal) x[at] /= matrix[at * n + at];
    for (int64_t other = 0; other < step.rows - 1 - k; ++other) {
      const int64_t to = ascends ? at + 1 + other : at - 1 - other;
      x[to] -= (form.is_transposed ? matrix[at * n + to] : matrix[to * n + at]) * x[at];
    }
  }
}

template <class R>
void solve(const R* matrix, int64_t n, TriangleForm form, R* x) {
  const int64_t steps = (n + kRows - 1) / kRows;
  const bool ascends = form.is_lower != form.is_transposed;
  with_vectors([&]<int kBytes>() LT_INLINE {
    for (int64_t k = 0; k < steps; ++k) {
      Step step;
      step.row = (ascends ? k : steps - 1 - k) * kRows;
      step.rows = std::min<int64_t>(kRows, n - step.row);
      step.column = form.is_lower ? 0 : step.row + step.rows;
      step.columns = form.is_lower ? step.row : n - step.column;
      if (!form.is_transposed) {
        R sums[kRows];
        multiply_rows<kBytes>(matrix, n, step, x, sums);
        for (int64_t r = 0; r < step.rows; ++r) x[step.row + r] -= sums[r];
      }
      solve_corner(matrix, n, step, form, x);
      if (form.is_transposed) subtract_rows<kBytes>(matrix, n, step, x);
    }
  });
}

}  // namespace

void solve_vector(const float* matrix, int64_t n, TriangleForm form, float* x) { solve(matrix, n, form, x); }
void solve_vector(const double* matrix, int64_t n, TriangleForm form, double* x) { solve(matrix, n, form, x); }

}  // namespace lowtide::engine
