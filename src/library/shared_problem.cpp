#include "library/shared_problem.h"

namespace lowtide::engine {

std::unique_ptr<SharedProblem> make_shared_problem(const LapackProblem& problem) {
  switch (problem.routine) {
    case LapackRoutine::kGetrf: return make_shared_lu(problem);
    case LapackRoutine::kGeqrf: return make_shared_qr(problem);
    case LapackRoutine::kOrgqr: return make_shared_q(problem);
    case LapackRoutine::kSyevd: return make_shared_eigh(problem);
    case LapackRoutine::kGesdd: return make_shared_svd(problem);
    default: return nullptr;
  }
}

}  // namespace lowtide::engine
