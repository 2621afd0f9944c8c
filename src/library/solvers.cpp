/// The operations cholesky and triangular-solve, for types that LAPACK supports.
#include <algorithm>
#include <cmath>

#include "library/lanes.h"
#include "library/routines.h"
#include "library/triangular.h"
#include "ops/numbers.h"

namespace lowtide::engine {
namespace {

/// The LAPACK problem of the matrices in the last two dimensions of `array`; none if LAPACK can't solve it.
std::optional<LapackProblem> problem_of(const Shape& array, LapackRoutine routine) {
  const bool known = is_wide_float(array.type) || is_complex(array.type);
  if (!known || array.rank() < 2 || !has_lapack()) return {};
  const int64_t m = array.dims[array.dims.size() - 2], n = array.dims.back();
  if (m < 0 || n < 0 || m > INT32_MAX || n > INT32_MAX) return {};
  LapackProblem problem;
  problem.routine = routine;
  problem.type = array.type;
  problem.m = static_cast<int32_t>(m);
  problem.n = static_cast<int32_t>(n);
  return problem;
}

int64_t batch_of(const Shape& array) {
  int64_t batch = 1;
  for (size_t d = 0; d + 2 < array.dims.size(); ++d) batch *= array.dims[d];
  return batch;
}

class Cholesky : public LibraryRoutine {
 public:
  Cholesky(const LapackProblem& problem, int64_t batch)
      : problem_(problem), batch_(batch), factor_(make_row_major_potrf(problem, batch)) {}

  /// One status for each matrix, followed by the factorisation's scratch.
  int64_t scratch_bytes() const override { return info_bytes() + factor_->scratch_bytes(); }

  Status run(std::span<const void* const> operands, std::span<void* const> results, void* scratch,
             ThreadPool& pool) override {
    void* both[] = {results[0], scratch};
    LT_RETURN_IF_ERROR(factor_->run(operands, both, static_cast<std::byte*>(scratch) + info_bytes(), pool));
    const auto* info = static_cast<const int32_t*>(scratch);
    const int64_t n = problem_.n;
    dispatch(problem_.type, [&]<class T>() {
      if constexpr (std::is_floating_point_v<computed_t<T>> || is_complex_v<T>) {
        pool.run(batch_ * parts(), [&](int64_t task, int) {
          const int64_t matrix = task / parts(), first = task % parts() * kRows;
          T* a = static_cast<T*>(results[0]) + matrix * n * n;
          for (int64_t i = first; i < std::min(first + kRows, n); ++i) finish(a + i * n, i, info[matrix] != 0);
        });
      }
    });
    return {};
  }

 private:
  int64_t info_bytes() const { return align_scratch(batch_ * static_cast<int64_t>(sizeof(int32_t))); }
  static constexpr int64_t kRows = 64;
  int64_t parts() const { return (problem_.n + kRows - 1) / kRows; }

  /// Fills the other triangle with zeros or, if the factorisation failed, the whole row with NaN.
  template <class T>
  void finish(T* row, int64_t i, bool fails) const {
    const int64_t n = problem_.n;
    if (fails) {
      std::fill_n(row, n, static_cast<T>(static_cast<computed_t<T>>(NAN)));
    } else if (problem_.uplo == 'L') {
      std::fill(row + i + 1, row + n, T{});
    } else {
      std::fill_n(row, i, T{});
    }
  }

  LapackProblem problem_;
  int64_t batch_;
  std::unique_ptr<LibraryRoutine> factor_;
};

}  // namespace

std::unique_ptr<LibraryRoutine> make_cholesky(const Instruction& cholesky) {
  std::optional<LapackProblem> problem = problem_of(cholesky.shape, LapackRoutine::kPotrf);
  if (!problem) return nullptr;
  problem->uplo = cholesky.as<CholeskyAttributes>().lower ? 'L' : 'U';
  return std::make_unique<Cholesky>(*problem, batch_of(cholesky.shape));
}

std::unique_ptr<LibraryRoutine> make_triangular_solve(const Instruction& solve) {
  std::optional<LapackProblem> problem = problem_of(solve.shape, LapackRoutine::kTrsm);
  if (!problem) return nullptr;
  const auto& attributes = solve.as<TriangularSolveAttributes>();
  problem->side = attributes.left_side ? 'L' : 'R';
  problem->uplo = attributes.lower ? 'L' : 'U';
  problem->diag = attributes.unit_diagonal ? 'U' : 'N';
  switch (attributes.transpose_a) {
    case Transposition::kNone: problem->trans = 'N'; break;
    case Transposition::kTranspose: problem->trans = 'T'; break;
    case Transposition::kAdjoint: problem->trans = 'C'; break;
  }
  return make_row_major_trsm(*problem, batch_of(solve.shape));
}

}  // namespace lowtide::engine
