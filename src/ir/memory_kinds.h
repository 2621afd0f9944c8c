#pragma once
/// The kinds of memory in which a program's arguments and results lie, by their names in JAX ("device", "pinned_host",
/// "unpinned_host"). HLO has no attribute for them: a module keeps them among its frontend attributes.
///
///   frontend_attributes={lowtide.argument_memory_kinds="0:pinned_host,2:unpinned_host"}

#include <string>
#include <vector>

#include "ir/module.h"

namespace lowtide::engine {

enum class EntrySide : uint8_t { kArguments, kResults };

/// By number of the parameter, or of the result; empty where the program doesn't say. As many as the last that says.
std::vector<std::string> memory_kinds(const Module& module, EntrySide side);
/// Does nothing where the module has them for this side already.
void set_memory_kinds(Module& module, EntrySide side, const std::vector<std::string>& kinds);

}  // namespace lowtide::engine
