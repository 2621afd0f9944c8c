#pragma once
/// Calls that ask compilers not to inline them: they bound manually partitioned regions, or are barriers
/// (passes/xla/spell_barriers.h).

#include <string>

#include "ir/module.h"

namespace lowtide::engine {

/// The frontend attribute that asks for it.
inline constexpr const char* kKeptAttribute = "inlineable=\"false\"";

inline bool is_kept_call(const Instruction& i) {
  return i.opcode == Opcode::kCall && i.frontend_attributes.find(kKeptAttribute) != std::string::npos;
}

}  // namespace lowtide::engine
