#pragma once
/// Prints programs in the form that a file's name asks for.

#include <string>
#include <string_view>

#include "base/status.h"
#include "ir/module.h"

namespace lowtide::engine {

/// StableHLO for names that end in `.mlir`, HLO text for all others.
Result<std::string> print_for(const Module& module, std::string_view file_name);

}  // namespace lowtide::engine
