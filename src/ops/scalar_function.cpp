#include "ops/scalar_function.h"

#include "ops/reducer.h"

namespace lowtide::engine {

ScalarFunction::ScalarFunction(const Computation& computation, EvalContext& context)
    : computation_(computation), context_(context), program_(ScalarProgram::compile(computation)) {
  if (!program_) arguments_.resize(computation.parameters().size());
}

void ScalarFunction::set(size_t k, const Literal& array, int64_t at) {
  if (program_) {
    load_element(array, at, program_->parameter(k));
  } else {
    arguments_[k] = scalar_at(array, at);
  }
}

Status ScalarFunction::run() {
  if (program_) {
    program_->run();
    return {};
  }
  LT_ASSIGN_OR_RETURN(result_, context_.call(computation_, arguments_));
  return {};
}

const std::byte* ScalarFunction::result() const { return program_ ? program_->result(0) : result_->bytes().data(); }

}  // namespace lowtide::engine
