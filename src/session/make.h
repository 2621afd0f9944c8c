#pragma once
/// From a builder to a module.

#include <memory>

#include "base/context.h"
#include "ir/module.h"
#include "lowtide/module.h"

namespace lowtide::engine {

/// Verified. Faults of kind kInput name the function and the number of its operation.
Result<std::unique_ptr<Module>> make_module(const ModuleBuilder::State& builder, std::shared_ptr<Context> context);

}  // namespace lowtide::engine
