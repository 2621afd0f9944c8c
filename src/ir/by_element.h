#pragma once
/// Operations that cost little again.

#include "ir/opcode.h"

namespace lowtide::engine {

/// Sources, views, elementwise work and moves: an element of the result is made of few others, none of them summed.
inline bool is_by_element(Opcode opcode) {
  switch (memory_class(opcode)) {
    case MemoryClass::kSource:
    case MemoryClass::kView:
    case MemoryClass::kElementwise:
    case MemoryClass::kIndexMap: return true;
    default: return false;
  }
}

}  // namespace lowtide::engine
