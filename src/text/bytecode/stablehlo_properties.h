#pragma once
/// Converts the properties of VHLO's operations to StableHLO's attributes, which group some of them in structures.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/bytecode/bytecode_entries.h"

namespace lowtide::engine {

using BytecodeProperty = std::pair<std::string_view, const BytecodeAttribute*>;

/// Each attribute as `name = value`; `operation` is StableHLO's name without its dialect.
std::vector<std::string> stablehlo_properties(std::string_view operation,
                                              const std::vector<BytecodeProperty>& properties,
                                              BytecodeEntries& entries);

}  // namespace lowtide::engine
