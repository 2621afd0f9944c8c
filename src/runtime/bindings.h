#pragma once
/// The memory of a program's arguments and results, from input files or a seed, and to an output file, without second
/// copies.

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
  TensorWriter* outputs = nullptr;  ///< a file whose tensor i is result array i; null: memory owned by Bindings
};

/// Arrays of the program's result: name ("out0") and shape, in order; tokens are left out.
std::vector<std::pair<std::string, Shape>> result_tensors(const Program& program);

class Bindings {
 public:
  /// Arguments that are only read stay in the mapped file, donated ones in private pages of it; seeded ones are
  /// generated in place. A donated argument whose memory becomes a result is in the file of the results from the
  /// beginning.
  static Result<Bindings> make(const Program& program, const BindingSources& sources, ThreadPool& pool);
  Bindings(Bindings&&) noexcept;
  ~Bindings();
  const RunMemory& memory() const;
  /// Restores donated arguments to their given values, between two runs.
  Status restore(ThreadPool& pool);
  /// Copies results that aren't in their file into it: leaf i is at results[i].
  void collect(std::span<const void* const> results, ThreadPool& pool);
  /// Bytes of arguments and results that are resident in memory, in pages.
  int64_t touched_bytes() const;

 private:
  struct State;
  Bindings();
  std::unique_ptr<State> state_;
};

}  // namespace lowtide::engine
