#pragma once
/// Files of several programs, as compilers' tests have them: lines `// -----` stand between.

#include <string>

#include "base/status.h"

namespace lowtide::engine {

/// Leaves program `number` (1, 2, ...) and blanks the others, so that places stay right. 0 means the only one; where
/// there are several, the fault says how to name one.
Status choose_section(std::string& text, int64_t number, const std::string& name);

}  // namespace lowtide::engine
