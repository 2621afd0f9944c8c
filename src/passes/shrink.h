#pragma once
/// Shrinks a failing program while it still fails: delta debugging over results, instructions, loops.

#include <cstdint>
#include <functional>
#include <memory>

#include "ir/module.h"
#include "target/target.h"

namespace lowtide::engine {

struct ShrinkOptions {
  int64_t most_tries = 5000;  ///< programs tried
};

/// The smallest program found for which fails() holds, which it must for `module`. Every program tried is verified:
/// fewer results, instructions replaced by arguments, zeros or their own operands, fewer iterations, calls inlined,
/// dead code and everything that only describes dropped.
std::unique_ptr<Module> shrink(const Module& module, const Target& target,
                               const std::function<bool(const Module&)>& fails, const ShrinkOptions& options = {});

}  // namespace lowtide::engine
