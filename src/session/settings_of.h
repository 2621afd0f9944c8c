#pragma once
/// Converts public options to settings of the engine.

#include "base/settings.h"
#include "lowtide/error.h"
#include "lowtide/options.h"

namespace lowtide::engine {

/// An error of kind kUsage names an invalid option.
lowtide::Result<void> check_options(const Options& options);
Settings settings_of(const Options& options);

}  // namespace lowtide::engine
