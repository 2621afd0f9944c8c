#pragma once
/// The properties of VHLO's operations as StableHLO's attributes, which has some of them in structures.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/bytecode/bytecode_entries.h"

namespace lowtide::engine {

using BytecodeProperty = std::pair<std::string_view, const BytecodeAttribute*>;

/// `name = value` of each; `operation` is StableHLO's name without its dialect.
std::vector<std::string> stablehlo_properties(std::string_view operation,
                                              const std::vector<BytecodeProperty>& properties,
                                              BytecodeEntries& entries);

}  // namespace lowtide::engine
