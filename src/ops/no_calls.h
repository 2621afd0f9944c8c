#pragma once
/// Evaluates operations that call no computation, outside of a run but with the same arithmetic: while a NoCalls
/// exists, its thread flushes denormals.

#include "base/denormals.h"
#include "ops/op_rule.h"

namespace lowtide::engine {

class NoCalls : public EvalContext {
 public:
  Result<Value> call(const Computation& computation, std::span<const Value>) override {
    return Status::unsupported(computation.name + " is not run here");
  }
  uint64_t advance_generator(uint64_t) override { LT_ASSERT(false, "numbers of a run are asked for outside of one"); }

 private:
  DenormalsScope flushed_{Denormals::kFlushed};
};

}  // namespace lowtide::engine
