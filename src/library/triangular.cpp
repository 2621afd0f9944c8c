#include "library/triangular.h"

#include <algorithm>

#include "base/copy_bytes.h"
#include "library/lanes.h"
#include "library/small/small_batch.h"
#include "library/solve_vector.h"

namespace lowtide::engine {
namespace {

/// Blocks of a factorisation; several threads work on the trailing part after a block.
constexpr int32_t kBlock = 128;
/// Fewer operations than this are one task.
constexpr int64_t kLeastOperations = int64_t{1} << 20;

char other(char uplo) { return uplo == 'L' ? 'U' : 'L'; }

std::byte* at(void* matrix, int64_t element, ElementType type) {
  return static_cast<std::byte*>(matrix) + element * stored_bytes(type);
}
const std::byte* at(const void* matrix, int64_t element, ElementType type) {
  return static_cast<const std::byte*>(matrix) + element * stored_bytes(type);
}

class RowMajorTrsm : public LibraryRoutine {
 public:
  RowMajorTrsm(LapackProblem problem, int64_t batch) : batch_(batch) {
    std::swap(problem.m, problem.n);
    problem.side = problem.side == 'L' ? 'R' : 'L';
    problem.uplo = other(problem.uplo);
    order_ = problem.side == 'L' ? problem.m : problem.n;
    vectors_ = problem.side == 'L' ? problem.n : problem.m;
    problem.lead = std::max(problem.m, 1);
    problem.read_lead = std::max(order_, 1);
    problem_ = problem;
    // Each part reads the triangle again: it has enough vectors to be worth that.
    const bool small = int64_t{order_} * order_ * vectors_ < kLeastOperations;
    part_ = small || vectors_ == 0 ? std::max(vectors_, 1) : kBlock;
    parts_ = (vectors_ + part_ - 1) / part_;
  }

  int64_t scratch_bytes() const override { return 0; }

  Status run(std::span<const void* const> operands, std::span<void* const> results, void*, ThreadPool& pool) override {
    const int64_t elements = int64_t{problem_.m} * problem_.n;
    copy_bytes(results[0], operands[1], batch_ * elements * stored_bytes(problem_.type), pool);
    pool.run(batch_ * parts_, [&](int64_t task, int) {
      const int64_t matrix = task / parts_, first = task % parts_ * part_;
      LapackProblem part = problem_;
      const auto vectors = static_cast<int32_t>(std::min<int64_t>(part_, vectors_ - first));
      (part.side == 'L' ? part.n : part.m) = vectors;
      void* b = at(results[0], matrix * elements + first * (part.side == 'L' ? part.lead : 1), part.type);
      const std::byte* triangle = at(operands[0], matrix * order_ * order_, part.type);
      void* read = const_cast<std::byte*>(triangle);  // it isn't written
      run_lapack(part, {&b, 1}, {&read, 1}, nullptr);
    });
    return {};
  }

 private:
  LapackProblem problem_;
  int64_t batch_, parts_ = 1;
  int32_t order_ = 0, vectors_ = 0, part_ = 1;
};

/// Up to so many vectors each read the triangle by themselves; several only if packing it takes longer.
constexpr int64_t kFewVectors = 4, kLeastOrderOfSeveral = 192;

/// Few vectors per triangle, which are columns of a row-major matrix, or its rows.
class SolveVectors : public LibraryRoutine {
 public:
  SolveVectors(ElementType type, int64_t order, int64_t vectors, int64_t batch, TriangleForm form, bool are_columns)
      : type_(type),
        order_(order),
        vectors_(vectors),
        batch_(batch),
        form_(form),
        copies_(are_columns && vectors > 1),
        lanes_(batch * vectors, copies_ ? order * stored_bytes(type) : 0) {}

  int64_t scratch_bytes() const override { return lanes_.scratch_bytes(); }

  Status run(std::span<const void* const> operands, std::span<void* const> results, void* scratch,
             ThreadPool& pool) override {
    copy_bytes(results[0], operands[1], batch_ * order_ * vectors_ * stored_bytes(type_), pool);
    lanes_.run(pool, scratch, [&](int64_t task, std::byte* room) {
      if (type_ == ElementType::kF32) {
        solve<float>(operands[0], results[0], task, room);
      } else {
        solve<double>(operands[0], results[0], task, room);
      }
    });
    return {};
  }

 private:
  template <class R>
  void solve(const void* triangles, void* result, int64_t task, std::byte* room) const {
    const int64_t matrix = task / vectors_, vector = task % vectors_;
    const R* triangle = static_cast<const R*>(triangles) + matrix * order_ * order_;
    R* of_matrix = static_cast<R*>(result) + matrix * order_ * vectors_;
    if (!copies_) return solve_vector(triangle, order_, form_, of_matrix + vector * order_);
    R* x = reinterpret_cast<R*>(room);
    for (int64_t i = 0; i < order_; ++i) x[i] = of_matrix[i * vectors_ + vector];
    solve_vector(triangle, order_, form_, x);
    for (int64_t i = 0; i < order_; ++i) of_matrix[i * vectors_ + vector] = x[i];
  }

  ElementType type_;
  int64_t order_, vectors_, batch_;
  TriangleForm form_;
  bool copies_;
  Lanes lanes_;
};

class RowMajorPotrf : public LibraryRoutine {
 public:
  RowMajorPotrf(LapackProblem problem, int64_t batch) : batch_(batch) {
    problem.uplo = other(problem.uplo);
    problem.lead = std::max(problem.n, 1);
    problem_ = problem;
  }

  int64_t scratch_bytes() const override { return 0; }

  Status run(std::span<const void* const> operands, std::span<void* const> results, void*, ThreadPool& pool) override {
    const int64_t elements = int64_t{problem_.n} * problem_.n;
    copy_bytes(results[0], operands[0], batch_ * elements * stored_bytes(problem_.type), pool);
    auto* info = static_cast<int32_t*>(results[1]);
    pool.run(batch_, [&](int64_t matrix, int) {
      if (blocked()) return;
      void* to[] = {at(results[0], matrix * elements, problem_.type), info + matrix};
      run_lapack(problem_, to, {}, nullptr);
    });
    for (int64_t matrix = 0; blocked() && matrix < batch_; ++matrix) {
      info[matrix] = factor(at(results[0], matrix * elements, problem_.type), pool);
    }
    return {};
  }

 private:
  /// Several threads factor one matrix together if it is large; otherwise each factors its own.
  bool blocked() const { return problem_.n >= 4 * kBlock; }

  std::byte* block(std::byte* matrix, int64_t row, int64_t column) const {
    return at(matrix, row + column * problem_.lead, problem_.type);
  }

  int32_t factor(std::byte* matrix, ThreadPool& pool) const {
    const int32_t n = problem_.n;
    const bool lower = problem_.uplo == 'L';
    for (int32_t k = 0; k < n; k += kBlock) {
      const int32_t width = std::min(kBlock, n - k), after = k + width;
      int32_t info = 0;
      LapackProblem corner = problem_;
      corner.m = corner.n = width;
      void* to[] = {block(matrix, k, k), &info};
      run_lapack(corner, to, {}, nullptr);
      if (info != 0) return k + info;
      const int64_t blocks = (n - after + kBlock - 1) / kBlock;
      const auto first = [&](int64_t b) { return after + static_cast<int32_t>(b) * kBlock; };
      const auto extent = [&](int64_t b) { return std::min(kBlock, n - first(b)); };
      pool.run(blocks, [&](int64_t b, int) {
        LapackProblem solve = problem_;
        solve.routine = LapackRoutine::kTrsm;
        solve.side = lower ? 'R' : 'L';
        solve.trans = 'C';
        solve.read_lead = problem_.lead;
        solve.m = lower ? extent(b) : width;
        solve.n = lower ? width : extent(b);
        void* part = lower ? block(matrix, first(b), k) : block(matrix, k, first(b));
        void* triangle = block(matrix, k, k);
        run_lapack(solve, {&part, 1}, {&triangle, 1}, nullptr);
      });
      pool.run(blocks * (blocks + 1) / 2, [&](int64_t pair, int) {
        int64_t far = 0;
        while ((far + 1) * (far + 2) / 2 <= pair) ++far;
        const int64_t near = pair - far * (far + 1) / 2;
        LapackProduct product;
        product.type = problem_.type;
        product.k = width;
        product.lead = problem_.lead;
        product.triangle = near == far ? problem_.uplo : char{0};
        const char adjoint = is_complex(problem_.type) ? 'C' : 'T';
        const int64_t row = lower ? far : near, column = lower ? near : far;
        product.m = extent(row);
        product.n = extent(column);
        product.trans_a = lower ? 'N' : adjoint;
        product.trans_b = lower ? adjoint : 'N';
        const std::byte* a = lower ? block(matrix, first(row), k) : block(matrix, k, first(row));
        const std::byte* b = lower ? block(matrix, first(column), k) : block(matrix, k, first(column));
        subtract_product(product, a, b, block(matrix, first(row), first(column)));
      });
    }
    return 0;
  }

  LapackProblem problem_;
  int64_t batch_;
};

}  // namespace

std::unique_ptr<LibraryRoutine> make_row_major_potrf(const LapackProblem& problem, int64_t batch) {
  if (auto small = make_small_batch(problem, batch)) return small;
  return std::make_unique<RowMajorPotrf>(problem, batch);
}

std::unique_ptr<LibraryRoutine> make_row_major_trsm(const LapackProblem& problem, int64_t batch) {
  if (auto small = make_small_batch(problem, batch)) return small;
  const bool is_left = problem.side == 'L';
  const int64_t vectors = is_left ? problem.n : problem.m, order = is_left ? problem.m : problem.n;
  const bool few = vectors == 1 || (vectors > 1 && vectors <= kFewVectors && order >= kLeastOrderOfSeveral);
  if (few && !is_complex(problem.type)) {
    const TriangleForm form{problem.uplo == 'L', (problem.trans != 'N') == is_left, problem.diag == 'U'};
    return std::make_unique<SolveVectors>(problem.type, order, vectors, batch, form, is_left);
  }
  return std::make_unique<RowMajorTrsm>(problem, batch);
}

}  // namespace lowtide::engine
