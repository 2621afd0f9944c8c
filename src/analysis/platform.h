#pragma once
/// Which kind of machine a module was made for, where its text tells: custom calls, layouts in tiles, what a compiler
/// noted for itself.

#include <cstdint>

#include "ir/module.h"

namespace lowtide::engine {

enum class Platform : uint8_t { kUnknown, kGpu, kTpu };

/// The first instruction that tells decides. Before optimizations most modules tell nothing.
Platform platform_of(const Module& module);

}  // namespace lowtide::engine
