#pragma once
/// What LLVM is told once in a process, before it is asked anything.

namespace lowtide::engine {

void start_llvm();

}  // namespace lowtide::engine
