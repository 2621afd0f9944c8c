#include "passes/xla/name_origins.h"

#include "analysis/leaf_bytes.h"
#include "analysis/uses.h"

namespace lowtide::engine {
namespace {

bool has_origin(const Instruction& i) { return !i.metadata.op_name.empty(); }

/// Does the operation lack an origin? Parameters and constants need none.
bool wants_origin(const Instruction& i) {
  return !has_origin(i) && i.opcode != Opcode::kParameter && i.opcode != Opcode::kConstant;
}

/// The origin of the largest operand that has one and isn't a parameter.
const Metadata* of_operands(const Instruction& i) {
  const Metadata* best = nullptr;
  int64_t most = -1;
  for (const Instruction* operand : i.operands) {
    const int64_t bytes = operand->shape.is_array() ? safe_logical_bytes(operand->shape) : 0;
    if (!has_origin(*operand) || operand->opcode == Opcode::kParameter || bytes <= most) continue;
    best = &operand->metadata;
    most = bytes;
  }
  return best;
}

const Metadata* of_readers(const Instruction& i, const Uses& uses) {
  for (const Instruction* reader : uses.of(i)) {
    if (has_origin(*reader)) return &reader->metadata;
  }
  return nullptr;
}

/// The origin of the largest value that the body computes.
const Metadata* of_body(const Instruction& loop) {
  const Metadata* best = nullptr;
  int64_t most = -1;
  for (const auto& i : loop.called.back()->instructions()) {
    const int64_t bytes = i->shape.is_array() ? safe_logical_bytes(i->shape) : 0;
    if (!has_origin(*i) || i->opcode == Opcode::kParameter || bytes <= most) continue;
    best = &i->metadata;
    most = bytes;
  }
  return best;
}

bool take(Instruction& i, const Metadata* origin) {
  if (origin == nullptr) return false;
  i.metadata = *origin;
  return true;
}

}  // namespace

Result<PassResult> name_origins(Module& module) {
  int64_t count = 0;
  const Uses uses(module);
  for (Computation* computation : module.callees_first()) {
    const auto& all = computation->instructions();
    for (const auto& i : all) {
      if (!wants_origin(*i)) continue;
      const bool loop = i->opcode == Opcode::kWhile || i->opcode == Opcode::kConditional;
      count += take(*i, loop ? of_body(*i) : of_operands(*i)) ? 1 : 0;
    }
    for (auto i = all.rbegin(); i != all.rend(); ++i) {
      if (wants_origin(**i)) count += take(**i, of_readers(**i, uses)) ? 1 : 0;
    }
  }
  return rewritten(count, "operations named after what they stand for");
}

}  // namespace lowtide::engine
