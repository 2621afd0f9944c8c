#pragma once
/// Files of several programs separated by lines `// -----`, as in compilers' tests.

#include <string>

#include "base/status.h"

namespace lowtide::engine {

/// Keeps program `number` (1, 2, ...) and blanks out the others, so that places stay valid. 0 selects the only program;
/// if there are several, the error says how to select one.
Status choose_section(std::string& text, int64_t number, const std::string& name);

}  // namespace lowtide::engine
