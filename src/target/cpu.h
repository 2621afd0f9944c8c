#pragma once
/// The processor that this process runs on: kernels, the routines of library/library.h, one arena.

#include "target/target.h"

namespace lowtide::engine {

const Target& cpu_target();

}  // namespace lowtide::engine
