#pragma once
/// A program's arguments and results as values: for tests, and for everything else that compares executors.

#include <span>
#include <vector>

#include "backend/backend.h"

namespace lowtide::engine {

class ValueMemory {
 public:
  /// Copies of the arguments, in parameter order (a tuple parameter is one), and room for the results.
  ValueMemory(const Program& program, std::span<const Value> arguments);
  const RunMemory& memory() const { return memory_; }
  /// Results flattened in tuple order, arrays only, as interpret() gives them.
  std::vector<Value> results(const LoadedProgram& loaded) const;

 private:
  std::vector<std::vector<std::byte>> bytes_;
  RunMemory memory_;
};

}  // namespace lowtide::engine
