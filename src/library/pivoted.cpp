/// getrf of one large matrix: LAPACK factors panels, all threads update the trailing columns.

#include <algorithm>
#include <array>
#include <complex>

#include "library/shared_problem.h"
#include "ops/numbers.h"

namespace lowtide::engine {
namespace {

/// Columns that one thread factors, while others wait: of a large matrix, and of one that a single thread factors.
constexpr int32_t kBlock = 64, kBlockAlone = 32;
constexpr int32_t kLeastShared = 384, kLeast = 64;
constexpr int32_t kCorner = 16;   ///< order of the corners of a block's triangle, which are inverted
constexpr int32_t kColumns = 96;  ///< per task, after a factored block and before it

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
      dispatch_number([&]<class T>() { invert_corners<T>(k, width); });
      const int32_t before = (k + kColumns - 1) / kColumns, after = p_.n - k - width;
      pool.run(before + (after + kColumns - 1) / kColumns, [&](int64_t task, int) {
        const bool left = task < before;
        const auto first = static_cast<int32_t>(left ? task * kColumns : k + width + (task - before) * kColumns);
        const int32_t columns = std::min(kColumns, (left ? k : p_.n) - first);
        dispatch_number([&]<class T>() {
          exchange_rows<T>(k, width, first, columns);
          if (!left) update<T>(k, width, first, columns);
        });
      });
    }
    return info;
  }

 private:
  template <class F>
  void dispatch_number(F&& f) const {
    switch (p_.type) {
      case ElementType::kF32: return f.template operator()<float>();
      case ElementType::kF64: return f.template operator()<double>();
      case ElementType::kC64: return f.template operator()<std::complex<float>>();
      default: return f.template operator()<std::complex<double>>();
    }
  }

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

  /// 1 - l^-1 of each corner of the panel's triangle: products with it are several times as fast as solving with l.
  template <class T>
  void invert_corners(int32_t k, int32_t width) {
    for (int32_t from = 0; from < width; from += kCorner) {
      const int32_t order = std::min(kCorner, width - from);
      const T* l = reinterpret_cast<const T*>(at(k + from, k + from));
      T* inverse = corner<T>(from);
      std::fill_n(inverse, kCorner * order, T(0));
      for (int32_t j = 0; j < order; ++j) {
        T* column = inverse + j * kCorner;
        for (int32_t i = j + 1; i < order; ++i) column[i] = l[i + int64_t{j} * p_.m];
        for (int32_t c = j + 1; c < order; ++c) {
          const T factor = column[c];
          for (int32_t i = c + 1; i < order; ++i) column[i] -= l[i + int64_t{c} * p_.m] * factor;
        }
      }
    }
  }
  template <class T>
  T* corner(int32_t from) {
    return reinterpret_cast<T*>(corners_.data()) + int64_t{from} * kCorner;
  }

  /// Computes rows of u, and subtracts their products from the rows below them.
  template <class T>
  void update(int32_t k, int32_t width, int32_t first, int32_t columns) {
    alignas(64) std::array<std::byte, kCorner * kColumns * sizeof(T)> before;
    LapackProduct product;
    product.type = p_.type;
    product.n = columns;
    product.lead = p_.m;
    for (int32_t from = 0; from < width; from += kCorner) {
      const int32_t order = std::min(kCorner, width - from), row = k + from, below = k + from + order;
      T* rows = reinterpret_cast<T*>(at(row, first));
      T* copy = reinterpret_cast<T*>(before.data());
      for (int32_t j = 0; j < columns; ++j) std::copy_n(rows + int64_t{j} * p_.m, order, copy + j * kCorner);
      product.m = product.k = order;
      product.a_lead = product.b_lead = kCorner;
      subtract_product(product, corner<T>(from), copy, rows);
      product.m = k + width - below;
      product.a_lead = product.b_lead = 0;
      if (product.m > 0) subtract_product(product, at(below, row), rows, at(below, first));
    }
    product.m = p_.m - k - width;
    product.k = width;
    if (product.m > 0) subtract_product(product, at(k + width, k), at(k, first), at(k + width, first));
  }

  const LapackProblem& p_;
  std::byte* matrix_;
  int32_t* pivots_;
  alignas(64) std::array<std::byte, kCorner * kBlock * sizeof(std::complex<double>)> corners_;
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
