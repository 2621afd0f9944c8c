#pragma once
/// To evaluate operations that call no computation.

#include "ops/op_rule.h"

namespace lowtide {

class NoCalls : public EvalContext {
 public:
  Result<Value> call(const Computation& computation, std::span<const Value>) override {
    return Status::unsupported(computation.name + " is not run here");
  }
};

}  // namespace lowtide
