#include "library/small/small_batch.h"

#include <algorithm>

#include "library/lanes.h"
#include "library/small/kernels.h"

namespace lowtide::engine {
namespace {

/// Scratch of a block stays in cache: orders up to 64 for factorisations, 43 for eigenvalues, 32 for singular values.
constexpr int64_t kMostVectors = 4200;
constexpr int32_t kSmallest = 32;
/// A task that is worth a thread fills this many vectors of scratch, in several blocks of lanes.
constexpr int64_t kTaskVectors = 512;

class SmallBatch : public LibraryRoutine {
 public:
  SmallBatch(const LapackProblem& problem, int64_t batch, const SmallRoutine& routine)
      : problem_(problem), batch_(batch), kernel_(routine.kernel) {
    const int64_t element = stored_bytes(problem.type), vectors = std::max<int64_t>(routine.vectors, 1);
    block_ = widest_vector() / element;
    task_ = block_ * std::clamp<int64_t>(kTaskVectors / vectors, 1, (batch + 2 * block_ - 1) / (2 * block_));
    // Scratch has the same size on all processors: that for blocks of the widest vectors.
    const int64_t blocks = (batch * element + kWidestVector - 1) / kWidestVector;
    lanes_ = Lanes(blocks, vectors * kWidestVector);
    lanes_.tasks = (batch + task_ - 1) / task_;
  }

  int64_t scratch_bytes() const override { return lanes_.scratch_bytes(); }

  Status run(std::span<const void* const> operands, std::span<void* const> results, void* scratch,
             ThreadPool& pool) override {
    const SmallMatrices matrices{&problem_, operands, results};
    lanes_.run(pool, scratch, [&](int64_t task, std::byte* own) {
      const int64_t end = std::min((task + 1) * task_, batch_);
      for (int64_t first = task * task_; first < end; first += block_) {
        kernel_(matrices, first, std::min(block_, end - first), own);
      }
    });
    return {};
  }

 private:
  LapackProblem problem_;
  int64_t batch_, block_ = 1, task_ = 1;  ///< in matrices
  SmallKernel kernel_;
  Lanes lanes_;
};

SmallRoutine small_routine(const LapackProblem& problem) {
  switch (problem.routine) {
    case LapackRoutine::kPotrf: return small_cholesky(problem);
    case LapackRoutine::kTrsm: return small_triangular(problem);
    case LapackRoutine::kGetrf: return small_lu(problem);
    case LapackRoutine::kGeqrf: return small_qr(problem);
    case LapackRoutine::kOrgqr: return small_q(problem);
    case LapackRoutine::kSyevd: return small_eigh(problem);
    case LapackRoutine::kGesdd: return small_svd(problem);
    default: return {};
  }
}

}  // namespace

std::unique_ptr<LibraryRoutine> make_small_batch(const LapackProblem& problem, int64_t batch) {
  if (is_complex(problem.type) || std::min(problem.m, problem.n) < 1) return nullptr;
  // For the smallest, filling half the lanes is enough; larger ones pay off if two threads can fill all their lanes.
  const int64_t lanes = kWidestVector / stored_bytes(problem.type);
  const bool smallest = std::max(problem.m, problem.n) <= kSmallest;
  if (batch < (smallest ? lanes / 2 : 2 * lanes)) return nullptr;
  const SmallRoutine routine = small_routine(problem);
  if (routine.kernel == nullptr || routine.vectors > kMostVectors) return nullptr;
  return std::make_unique<SmallBatch>(problem, batch, routine);
}

}  // namespace lowtide::engine
