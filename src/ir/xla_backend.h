#pragma once

#include <cstdint>

namespace lowtide::engine {

/// XLA's compilers, which fuse, order and run in place by rules of their own.
enum class XlaBackend : uint8_t { kCpu, kGpu, kTpu };

}  // namespace lowtide::engine
