#include "passes/xla/spell_barriers.h"

#include <fmt/format.h>

#include "ir/kept_calls.h"
#include "passes/rules/maker.h"
#include "target/target.h"

namespace lowtide::engine {
namespace {

Computation* identity(Module& module, const Shape& shape) {
  Computation* made = module.add_computation(module.unused_computation_name("barrier"));
  Maker maker(*made);
  Instruction* all = maker.make(Opcode::kParameter, shape, {}, ParameterAttributes{0});
  made->root = all;
  if (!shape.is_tuple()) return made;
  std::vector<Instruction*> elements;
  for (size_t k = 0; k < shape.elements.size(); ++k) elements.push_back(maker.element(*all, k));
  made->root = maker.make(Opcode::kTuple, shape, elements);
  return made;
}

}  // namespace

Result<PassResult> spell_barriers(Module& module, const Target& target) {
  if (target.xla_backend() != XlaBackend::kCpu) return PassResult{};
  std::vector<Instruction*> barriers;
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      if (i->opcode == Opcode::kOptBarrier) barriers.push_back(i.get());
    }
  }
  for (Instruction* barrier : barriers) {
    barrier->opcode = Opcode::kCall;
    barrier->called = {identity(module, barrier->shape)};
    barrier->frontend_attributes = fmt::format("{{{}}}", kKeptAttribute);
  }
  if (!barriers.empty()) module.reorder(module.callees_first());
  return rewritten(std::ssize(barriers), "barriers became calls");
}

}  // namespace lowtide::engine
