#pragma once
/// Memory of a program's arguments and results: where they come from and where they go, with no second copy of either.

#include <cstdint>
#include <memory>
#include <vector>

#include "backend/backend.h"
#include "text/safetensors.h"
#include "text/tensor_writer.h"

namespace lowtide::engine {

struct BindingSources {
  const TensorFile* inputs = nullptr;  ///< arg0, arg1, ...; null: seeded numbers
  uint64_t seed = 0;
  TensorWriter* outputs = nullptr;  ///< a file whose tensor i is result array i; null: memory that ends with this
};

/// Arrays of the program's result: name ("out0") and shape, in order; tokens have none.
std::vector<std::pair<std::string, Shape>> result_tensors(const Program& program);

class Bindings {
 public:
  /// Arguments that are only read stay where the file is mapped, donated ones are private pages of it; seeded ones are
  /// made in their place. A donated argument that ends as a result lies in the file of the results from the beginning.
  static Result<Bindings> make(const Program& program, const BindingSources& sources, ThreadPool& pool);
  Bindings(Bindings&&) noexcept;
  ~Bindings();
  const RunMemory& memory() const;
  /// Donated arguments as they were given: between two runs.
  Status restore(ThreadPool& pool);
  /// Brings results that lie elsewhere into their file: leaf i is at results[i].
  void collect(std::span<const void* const> results, ThreadPool& pool);
  /// Pages of arguments and results that the process holds in memory.
  int64_t touched_bytes() const;

 private:
  struct State;
  Bindings();
  std::unique_ptr<State> state_;
};

}  // namespace lowtide::engine
