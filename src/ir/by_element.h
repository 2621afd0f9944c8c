#pragma once
/// Operations that are cheap to recompute.

#include "ir/opcode.h"

namespace lowtide::engine {

/// Sources, views, elementwise operations and moves: an element of the result depends on few others, without sums.
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
