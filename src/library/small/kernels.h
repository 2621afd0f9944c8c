#pragma once
/// The kernels of each family of routines on small matrices, and how one body becomes a function for each instruction
/// set.

#include <span>

#include "lapack/lapack.h"
#include "library/vectors.h"

namespace lowtide::engine {

/// Matrices of a batch, row-major, one after another. Operands and results are those of the custom calls.
struct SmallMatrices {
  const LapackProblem* problem;
  std::span<const void* const> operands;
  std::span<void* const> results;

  template <class T>
  const T* operand(size_t k, int64_t first, int64_t elements) const {
    return static_cast<const T*>(operands[k]) + first * elements;
  }
  template <class T>
  T* result(size_t r, int64_t first, int64_t elements) const {
    return static_cast<T*>(results[r]) + first * elements;
  }
};

/// Computes `count` matrices from `first` on: at most as many as a vector has lanes. An operand is read before a result
/// that may share its memory is written.
using SmallKernel = void (*)(const SmallMatrices& matrices, int64_t first, int64_t count, std::byte* scratch);

/// Body<S, bytes of its vectors>::run for this machine's vectors.
template <template <class, int> class Body, class S>
void run_small(const SmallMatrices& matrices, int64_t first, int64_t count, std::byte* scratch) {
  with_vectors([&]<int kBytes>() LT_INLINE { Body<S, kBytes>::run(matrices, first, count, scratch); });
}

/// For f32 or f64.
template <template <class, int> class Body>
SmallKernel small_kernel(ElementType type) {
  return type == ElementType::kF32 ? run_small<Body, float> : run_small<Body, double>;
}

struct SmallRoutine {
  SmallKernel kernel = nullptr;
  int64_t vectors = 0;  ///< scratch, in vectors
};
SmallRoutine small_cholesky(const LapackProblem& problem);
SmallRoutine small_triangular(const LapackProblem& problem);
SmallRoutine small_lu(const LapackProblem& problem);
SmallRoutine small_qr(const LapackProblem& problem);    ///< geqrf
SmallRoutine small_q(const LapackProblem& problem);     ///< orgqr
SmallRoutine small_eigh(const LapackProblem& problem);  ///< syevd
SmallRoutine small_svd(const LapackProblem& problem);   ///< gesdd

}  // namespace lowtide::engine
