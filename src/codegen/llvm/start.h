#pragma once
/// LLVM's initialisation, once per process.

namespace lowtide::engine {

void start_llvm();

}  // namespace lowtide::engine
