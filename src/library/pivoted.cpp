/// getrf of one large matrix: panels by LAPACK, what lies behind them by all threads.

#include <algorithm>
#include <complex>

#include "library/shared_problem.h"
#include "ops/numbers.h"

namespace lowtide::engine {
namespace {

/// Columns that one thread factors, while others wait: of a large matrix, and of one that one thread has for itself.
constexpr int32_t kBlock = 64, kBlockAlone = 32;
constexpr int32_t kLeastShared = 384, kLeast = 64;
constexpr int32_t kColumns = 96;  ///< that are one task, behind a factored block and before it

class Factorisation {
 public:
  Factorisation(const LapackProblem& problem, void* matrix, int32_t* pivots)
      : p_(problem), matrix_(static_cast<std::byte*>(matrix)), pivots_(pivots) {}

  int32_t run(ThreadPool& pool) {
    int32_t info = 0;
    const int32_t few = std::min(p_.m, p_.n);
    const int32_t block = few < kLeastShared ? kBlockAlone : kBlock;
    for (int32_t k = 0; k < few; k += block) {
      const int32_t width = std::min(block, few - k);
      const int32_t said = factor_panel(k, width);
      if (info == 0 && said != 0) info = k + said;
      const int32_t before = (k + kColumns - 1) / kColumns, behind = p_.n - k - width;
      pool.run(before + (behind + kColumns - 1) / kColumns, [&](int64_t task, int) {
        const bool left = task < before;
        const auto first = static_cast<int32_t>(left ? task * kColumns : k + width + (task - before) * kColumns);
        const int32_t columns = std::min(kColumns, (left ? k : p_.n) - first);
        dispatch(p_.type, [&]<class T>() { exchange_rows<T>(k, width, first, columns); });
        if (!left) update(k, width, first, columns);
      });
    }
    return info;
  }

 private:
  std::byte* at(int32_t row, int32_t column) const {
    return matrix_ + (row + int64_t{column} * p_.m) * stored_bytes(p_.type);
  }

  int32_t factor_panel(int32_t k, int32_t width) const {
    LapackProblem panel = p_;
    panel.m = p_.m - k;
    panel.n = width;
    panel.lead = p_.m;
    int32_t info = 0;
    void* results[] = {at(k, k), pivots_ + k, &info};
    run_lapack(panel, results, {}, nullptr);
    for (int32_t i = 0; i < width; ++i) pivots_[k + i] += k;
    return info;
  }

  template <class T>
  void exchange_rows(int32_t k, int32_t width, int32_t first, int32_t columns) const {
    for (int32_t j = first; j < first + columns; ++j) {
      T* column = reinterpret_cast<T*>(at(0, j));
      for (int32_t i = k; i < k + width; ++i) std::swap(column[i], column[pivots_[i] - 1]);
    }
  }

  void update(int32_t k, int32_t width, int32_t first, int32_t columns) const {
    LapackProblem solve;
    solve.routine = LapackRoutine::kTrsm;
    solve.type = p_.type;
    solve.m = width;
    solve.n = columns;
    solve.diag = 'U';
    solve.lead = solve.read_lead = p_.m;
    void* rows = at(k, first);
    void* triangle = at(k, k);
    run_lapack(solve, {&rows, 1}, {&triangle, 1}, nullptr);
    LapackProduct product;
    product.type = p_.type;
    product.m = p_.m - k - width;
    product.n = columns;
    product.k = width;
    product.lead = p_.m;
    if (product.m > 0) subtract_product(product, at(k + width, k), rows, at(k + width, first));
  }

  const LapackProblem& p_;
  std::byte* matrix_;
  int32_t* pivots_;
};

class SharedLu : public SharedProblem {
 public:
  explicit SharedLu(const LapackProblem& problem) : p_(problem) {}
  int64_t scratch_bytes() const override { return 0; }
  void run(std::span<void* const> results, std::span<const void* const>, std::byte*, ThreadPool& pool) const override {
    *static_cast<int32_t*>(results[2]) = Factorisation(p_, results[0], static_cast<int32_t*>(results[1])).run(pool);
  }

 private:
  LapackProblem p_;
};

}  // namespace

std::unique_ptr<SharedProblem> make_shared_lu(const LapackProblem& problem) {
  return std::min(problem.m, problem.n) >= kLeast ? std::make_unique<SharedLu>(problem) : nullptr;
}

}  // namespace lowtide::engine
