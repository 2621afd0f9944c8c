#pragma once
/// The context of test programs that stand for the command: with the settings that the environment states.

#include <memory>

#include "base/context.h"

namespace lowtide::engine {

/// One for the process.
const std::shared_ptr<Context>& test_context();

}  // namespace lowtide::engine
