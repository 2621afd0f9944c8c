#include "ops/op_rule.h"

namespace lowtide::engine {

const OpRule& rule_of(Opcode opcode) {
  switch (opcode) {
#define OP(name, text, arity, memory) \
  case Opcode::k##name: return k##name##Rule;
#include "ir/opcodes.def"
  }
  __builtin_unreachable();
}

}  // namespace lowtide::engine
