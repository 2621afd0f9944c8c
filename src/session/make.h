#pragma once
/// Builds a module from a builder.

#include <memory>

#include "base/context.h"
#include "ir/module.h"
#include "lowtide/module.h"

namespace lowtide::engine {

/// The module is verified. Errors of kind kInput name the function and the number of its operation.
Result<std::unique_ptr<Module>> make_module(const ModuleBuilder::State& builder, std::shared_ptr<Context> context);

}  // namespace lowtide::engine
