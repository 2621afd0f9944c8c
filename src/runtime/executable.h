#pragma once
/// A program that runs: its kernels compiled, its library routines made, in one arena of exactly the planned bytes.

#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "base/thread_pool.h"
#include "codegen/kernel.h"
#include "library/library.h"
#include "schedule/program.h"

namespace lowtide::engine {

struct RunMemory {
  std::vector<void*> arguments;  ///< per argument leaf; donated ones are overwritten
  std::vector<void*> outputs;    ///< per result leaf; null where the result lives in an argument
  std::byte* arena = nullptr;    ///< Program::temp_bytes of the caller's; null: the executable's own
};

class Executable {
 public:
  /// Compiles every region. What has neither code nor routine runs by its definition, in the interpreter;
  /// kUnsupported names the operation that has no definition either.
  /// known: regions lowered for the plan.
  static Result<std::unique_ptr<Executable>> make(std::shared_ptr<const Program> program, const CompileOptions& options,
                                                  KnownNests* known = nullptr);
  ~Executable();
  const Program& program() const;
  const CompileRecord& compile_record() const;
  /// Steps that run by their definition: slow, and in memory of the interpreter's own.
  int64_t interpreted() const;
  /// The same program with an arena and a state of its own, for a run at the same time.
  std::unique_ptr<Executable> another() const;
  /// Runs once, and is of one caller while it does. Arena and pool are kept between runs; addresses are those of the
  /// plan.
  Status run(const RunMemory& memory, ThreadPool& pool);
  /// Where result leaf i lies after run(): an output or a donated argument.
  const void* result(size_t leaf) const;
  int64_t arena_touched_bytes() const;  ///< resident pages of the arena

 private:
  struct State;
  Executable() = default;
  std::unique_ptr<State> state_;
};

}  // namespace lowtide::engine
