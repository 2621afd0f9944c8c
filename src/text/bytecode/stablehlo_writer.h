#pragma once
/// Writes a tree of VHLO's operations as StableHLO text in the generic form.

#include <string>

#include "text/bytecode/bytecode_entries.h"
#include "text/bytecode/bytecode_tree.h"

namespace lowtide::engine {

/// Large constants stay in `entries.blobs()`. Errors are raised in the fault of `entries`.
std::string stablehlo_of_bytecode(const BytecodeTree& tree, BytecodeEntries& entries);

}  // namespace lowtide::engine
