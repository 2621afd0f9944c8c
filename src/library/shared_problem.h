#pragma once
/// One large problem of linear algebra, solved by all threads. Matrices are column-major, as in run_lapack.

#include <memory>
#include <span>

#include "base/thread_pool.h"
#include "lapack/lapack.h"

namespace lowtide::engine {

class SharedProblem {
 public:
  virtual ~SharedProblem() = default;
  virtual int64_t scratch_bytes() const = 0;
  /// `results` and `read` as in run_lapack: results that share memory with operands hold these already; only vectors
  /// are in `read`. Same bits for every number of threads.
  virtual void run(std::span<void* const> results, std::span<const void* const> read, std::byte* scratch,
                   ThreadPool& pool) const = 0;
};

/// For the problem's type; null for complex types.
template <template <class> class Shared>
std::unique_ptr<SharedProblem> shared_of_type(const LapackProblem& problem) {
  switch (problem.type) {
    case ElementType::kF32: return std::make_unique<Shared<float>>(problem);
    case ElementType::kF64: return std::make_unique<Shared<double>>(problem);
    default: return nullptr;
  }
}

/// Null if one thread is as fast, or only LAPACK has an algorithm.
std::unique_ptr<SharedProblem> make_shared_problem(const LapackProblem& problem);

/// Reflectors of a = q r, and q computed from them.
std::unique_ptr<SharedProblem> make_shared_qr(const LapackProblem& problem);
std::unique_ptr<SharedProblem> make_shared_q(const LapackProblem& problem);
/// p a = l u
std::unique_ptr<SharedProblem> make_shared_lu(const LapackProblem& problem);
/// Eigenvalues and vectors of symmetric matrices.
std::unique_ptr<SharedProblem> make_shared_eigh(const LapackProblem& problem);
/// Singular values and vectors.
std::unique_ptr<SharedProblem> make_shared_svd(const LapackProblem& problem);

}  // namespace lowtide::engine
