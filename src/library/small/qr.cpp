/// geqrf and orgqr of small matrices.
#include <algorithm>

#include "library/small/kernels.h"
#include "library/small/reflectors.h"

namespace lowtide::engine {
namespace {

template <class S, int kBytes>
struct QrBody {
  using A = Across<S, kBytes>;
  using Vector = typename A::Vector;

  [[gnu::always_inline]] static void run(const SmallMatrices& matrices, int64_t first, int64_t count,
                                         std::byte* scratch) {
    const int64_t m = matrices.problem->m, n = matrices.problem->n, few = std::min(m, n);
    auto* elements = reinterpret_cast<Vector*>(scratch);
    Vector* taus = elements + m * n;
    A::load(matrices.operand<S>(0, first, m * n), m * n, m * n, count, elements);
    const typename A::Matrix a{elements, n, 1};
    for (int64_t k = 0; k < few; ++k) {
      taus[k] = Reflectors<S, kBytes>::make(a.from(k, k), m - k);
      Reflectors<S, kBytes>::apply(a.from(k, k), taus[k], m - k, a.from(k, k + 1), n - k - 1);
    }
    A::store(elements, m * n, count, matrices.result<S>(0, first, m * n), m * n);
    A::store(taus, few, count, matrices.result<S>(1, first, few), few);
  }
};

template <class S, int kBytes>
struct QBody {
  using A = Across<S, kBytes>;
  using Vector = typename A::Vector;

  [[gnu::always_inline]] static void run(const SmallMatrices& matrices, int64_t first, int64_t count,
                                         std::byte* scratch) {
    const int64_t m = matrices.problem->m, n = matrices.problem->n, k = matrices.problem->k;
    auto* elements = reinterpret_cast<Vector*>(scratch);
    Vector* taus = elements + m * n;
    A::load(matrices.operand<S>(0, first, m * n), m * n, m * n, count, elements);
    A::load(matrices.operand<S>(1, first, k), k, k, count, taus);
    Reflectors<S, kBytes>::multiply_out({elements, n, 1}, taus, m, n, k);
    A::store(elements, m * n, count, matrices.result<S>(0, first, m * n), m * n);
  }
};

int64_t vectors_of(const LapackProblem& problem) { return int64_t{problem.m} * problem.n + problem.n; }

}  // namespace

SmallRoutine small_qr(const LapackProblem& problem) {
  return {small_kernel<QrBody>(problem.type), vectors_of(problem)};
}

SmallRoutine small_q(const LapackProblem& problem) { return {small_kernel<QBody>(problem.type), vectors_of(problem)}; }

}  // namespace lowtide::engine
