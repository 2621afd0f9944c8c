#include "codegen/grid_kernel.h"

#include <fmt/format.h>

#include "codegen/llvm_library.h"
#include "nest/legalise.h"

namespace lowtide::engine {

Result<std::string> compile_grid(const LlvmGridRequest& request) {
  if (const std::string refused = check_plain(*request.nest); !refused.empty()) return Status::unsupported(refused);
  LT_ASSIGN_OR_RETURN(const LlvmCompileGrid compiler, load_llvm_grid());
  LlvmAnswer answer;
  compiler(request, answer);
  if (!answer.fault.empty()) {
    return Status(Fault::kInternal, fmt::format("a kernel of a grid can't be compiled: {}", answer.fault));
  }
  return std::move(answer.object);
}

}  // namespace lowtide::engine
