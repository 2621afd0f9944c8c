#pragma once
/// The context in which the command does all its work, with the settings that the environment states.

#include <memory>

#include "base/context.h"

namespace lowtide::engine {

/// Made by the first call, before signals are handled.
const std::shared_ptr<Context>& command_context();
/// Seconds after which progress is drawn: LOWTIDE_PROGRESS.
double progress_after();

}  // namespace lowtide::engine
