#pragma once
/// Options of the public face as settings of the engine.

#include "base/settings.h"
#include "lowtide/error.h"
#include "lowtide/options.h"

namespace lowtide::engine {

/// kUsage names one that makes no sense.
lowtide::Result<void> check_options(const Options& options);
Settings settings_of(const Options& options);

}  // namespace lowtide::engine
