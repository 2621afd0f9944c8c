/// geqrf and orgqr of one large matrix: panels by LAPACK, their reflectors by all threads.
#include <algorithm>

#include "library/block_reflectors.h"
#include "library/lanes.h"
#include "library/shared_problem.h"

namespace lowtide::engine {
namespace {

constexpr int32_t kPanel = 64;  ///< columns that one thread factors: the others wait
constexpr int32_t kLeast = 384;

template <class T>
class SharedQr : public SharedProblem {
 public:
  explicit SharedQr(const LapackProblem& problem) : p_(problem), few_(std::min(p_.m, p_.n)) {
    const int64_t behind = rest(nullptr, nullptr, 0, kPanel).room(p_.n) * static_cast<int64_t>(sizeof(T));
    bytes_ = std::max(align_scratch(behind), lapack_workspace_bytes(panel(0)));
  }

  int64_t scratch_bytes() const override { return bytes_; }

  void run(std::span<void* const> results, std::span<const void* const>, std::byte* scratch,
           ThreadPool& pool) const override {
    T *a = static_cast<T*>(results[0]), *taus = static_cast<T*>(results[1]);
    for (int32_t k = 0; k < few_; k += kPanel) {
      const LapackProblem columns = panel(k);
      void* parts[] = {a + k + int64_t{k} * p_.m, taus + k};
      run_lapack(columns, parts, {}, scratch);
      const int32_t behind = k + columns.n;
      if (behind == p_.n) break;
      rest(a, taus, k, columns.n)
          .apply(p_.n - behind, a + k + int64_t{behind} * p_.m, p_.m, reinterpret_cast<T*>(scratch), pool);
    }
  }

 private:
  LapackProblem panel(int32_t k) const {
    LapackProblem columns = p_;
    columns.m = p_.m - k;
    columns.n = std::min(kPanel, few_ - k);
    columns.lead = p_.m;
    return columns;
  }
  /// What a panel's reflectors do to the columns behind it.
  BlockReflectors<T> rest(const T* a, const T* taus, int32_t k, int32_t count) const {
    BlockReflectors<T> reflectors{a, p_.m, p_.m - k, count, taus};
    if (a != nullptr) reflectors.at += k + int64_t{k} * p_.m, reflectors.taus += k;
    reflectors.transposed = true;
    return reflectors;
  }

  LapackProblem p_;
  int32_t few_;
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

template <template <class> class Shared>
std::unique_ptr<SharedProblem> make(const LapackProblem& problem) {
  return std::min(problem.m, problem.n) < kLeast ? nullptr : shared_of_type<Shared>(problem);
}

}  // namespace

std::unique_ptr<SharedProblem> make_shared_qr(const LapackProblem& problem) { return make<SharedQr>(problem); }

std::unique_ptr<SharedProblem> make_shared_q(const LapackProblem& problem) { return make<SharedQ>(problem); }

}  // namespace lowtide::engine
