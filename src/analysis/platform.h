#pragma once
/// The kind of machine for which a module was compiled, recognised by its custom calls, tiled layouts and the
/// compiler's own annotations.

#include <cstdint>

#include "ir/module.h"

namespace lowtide::engine {

enum class Platform : uint8_t { kUnknown, kGpu, kTpu };

/// Determined by the first instruction that has such a sign. Before optimization most modules have none.
Platform platform_of(const Module& module);

}  // namespace lowtide::engine
