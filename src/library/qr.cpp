/// geqrf and orgqr of one large matrix: one thread factors a panel, all threads apply its reflectors.
#include <algorithm>

#include "library/block_reflectors.h"
#include "library/lanes.h"
#include "library/panel_qr.h"
#include "library/shared_problem.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kPanel = 64;  ///< columns that one thread factors, while the others wait

template <class T>
class SharedQr : public SharedProblem {
 public:
  explicit SharedQr(const LapackProblem& problem) : p_(problem), few_(std::min(p_.m, p_.n)) {
    const int64_t after = p_.n > kPanel ? rest(nullptr, nullptr, 0, kPanel).room(p_.n - kPanel) : 0;
    bytes_ = align_scratch(std::max(after, panel_qr_room(kPanel)) * static_cast<int64_t>(sizeof(T)));
  }

  int64_t scratch_bytes() const override { return bytes_; }

  void run(std::span<void* const> results, std::span<const void* const>, std::byte* scratch,
           ThreadPool& pool) const override {
    T *a = static_cast<T*>(results[0]), *taus = static_cast<T*>(results[1]), *room = reinterpret_cast<T*>(scratch);
    for (int64_t k = 0; k < few_; k += kPanel) {
      const int64_t columns = std::min(kPanel, few_ - k), after = k + columns;
      panel_qr(a + k + k * p_.m, p_.m, p_.m - k, columns, taus + k, room);
      if (after < p_.n) rest(a, taus, k, columns).apply(p_.n - after, a + k + after * p_.m, p_.m, room, pool);
    }
  }

 private:
  /// Applies a panel's reflectors to the trailing columns.
  BlockReflectors<T> rest(const T* a, const T* taus, int64_t k, int64_t count) const {
    BlockReflectors<T> reflectors{a, p_.m, p_.m - k, count, taus};
    if (a != nullptr) reflectors.at += k + k * p_.m, reflectors.taus += k;
    reflectors.transposed = true;
    return reflectors;
  }

  LapackProblem p_;
  int64_t few_;
  int64_t bytes_ = 0;
};

template <class T>
class SharedQ : public SharedProblem {
 public:
  explicit SharedQ(const LapackProblem& problem) : p_(problem) {}

  int64_t scratch_bytes() const override {
    return made_bytes() + reflectors(nullptr, nullptr).room(p_.n) * static_cast<int64_t>(sizeof(T));
  }

  void run(std::span<void* const> results, std::span<const void* const> read, std::byte* scratch,
           ThreadPool& pool) const override {
    T *a = static_cast<T*>(results[0]), *made = reinterpret_cast<T*>(scratch);
    const int64_t m = p_.m;
    pool.run(p_.n, [&](int64_t j, int) {
      std::fill_n(made + j * m, m, T(0));
      made[j + j * m] = 1;
    });
    reflectors(a, static_cast<const T*>(read[0]))
        .apply(p_.n, made, m, reinterpret_cast<T*>(scratch + made_bytes()), pool);
    pool.run(p_.n, [&](int64_t j, int) { std::copy_n(made + j * m, m, a + j * m); });
  }

 private:
  int64_t made_bytes() const { return align_scratch(int64_t{p_.m} * p_.n * static_cast<int64_t>(sizeof(T))); }
  BlockReflectors<T> reflectors(const T* a, const T* taus) const {
    BlockReflectors<T> reflectors{a, p_.m, p_.m, p_.k, taus};
    reflectors.on_identity = true;
    return reflectors;
  }

  LapackProblem p_;
};

}  // namespace

std::unique_ptr<SharedProblem> make_shared_qr(const LapackProblem& problem) {
  constexpr int64_t kFewest = 16, kElements = 1 << 15;
  const int64_t few = std::min(problem.m, problem.n), many = std::max(problem.m, problem.n);
  return few < kFewest || few * many < kElements ? nullptr : shared_of_type<SharedQr>(problem);
}

std::unique_ptr<SharedProblem> make_shared_q(const LapackProblem& problem) {
  constexpr int32_t kLeast = 384;
  return std::min(problem.m, problem.n) < kLeast ? nullptr : shared_of_type<SharedQ>(problem);
}

}  // namespace lowtide::engine
