#pragma once
/// The processor that this process runs on: kernels, the routines of library/library.h, one arena.

#include <memory>

#include "target/target.h"

namespace lowtide::engine {

const Target& cpu_target();
/// The same routines, at another machine's prices.
std::unique_ptr<const Target> cpu_target_like(const Machine& machine);

}  // namespace lowtide::engine
