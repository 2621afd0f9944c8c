#pragma once
/// From a tree of VHLO's operations to StableHLO's text in the generic form.

#include <string>

#include "text/bytecode/bytecode_entries.h"
#include "text/bytecode/bytecode_tree.h"

namespace lowtide::engine {

/// Large constants stay in `entries.blobs()`. What is wrong is raised as a fault of `entries`.
std::string stablehlo_of_bytecode(const BytecodeTree& tree, BytecodeEntries& entries);

}  // namespace lowtide::engine
