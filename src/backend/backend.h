#pragma once
/// Compiles and runs programs (docs/backends.md). Planning queries a Target; planned programs are run by a Backend of
/// that target. Both are used only through these interfaces.

#include <memory>
#include <vector>

#include "backend/step_times.h"
#include "base/status.h"
#include "base/thread_pool.h"
#include "codegen/kernel.h"
#include "nest/nest.h"
#include "schedule/program.h"
#include "target/target.h"

namespace lowtide::engine {

/// A program and its kernels: a backend's whole input.
struct LoweredProgram {
  std::shared_ptr<const Program> program;
  /// By region, with its inputs' buffers before its outputs'; equal regions share one. Null: its step does nothing.
  std::vector<std::shared_ptr<const Nest>> nests;
};

/// The caller's memory, on the host. A backend with its own memory copies from and to it.
struct RunMemory {
  std::vector<void*> arguments;  ///< per argument leaf; donated ones are overwritten
  std::vector<void*> outputs;    ///< per result leaf; null if the result aliases an argument
  /// The caller's arena of Program::temp_bytes; null: the loaded program's own, as is always the case if the arena
  /// isn't on the host.
  std::byte* arena = nullptr;
};

/// A program that runs: compiled, with an arena of exactly the planned bytes.
class LoadedProgram {
 public:
  virtual ~LoadedProgram() = default;
  LoadedProgram(const LoadedProgram&) = delete;
  LoadedProgram& operator=(const LoadedProgram&) = delete;

  const Program& program() const { return *program_; }
  /// Bytes of the arena: exactly Program::temp_bytes.
  int64_t arena_bytes() const { return program_->temp_bytes; }
  virtual const CompileRecord& compile_record() const = 0;
  /// How many steps are interpreted (runtime/interpreted.h): slow, and in extra memory.
  virtual int64_t interpreted() const = 0;
  /// The same program with an arena and state of its own, for a concurrent run.
  virtual std::unique_ptr<LoadedProgram> another() const = 0;
  /// Runs once, to the end; one caller at a time. Arena and pool are kept between runs.
  virtual Status run(const RunMemory& memory, ThreadPool& pool) = 0;
  /// The address of result leaf i after run(): in an output or a donated argument of the caller.
  virtual const void* result(size_t leaf) const = 0;
  /// From now on each step's time is added to `times`; null: no longer. False if the backend can't measure it.
  virtual bool watch(StepTimes* times) {
    (void)times;
    return false;
  }
  virtual int64_t arena_touched_bytes() const = 0;  ///< resident pages of the arena

 protected:
  explicit LoadedProgram(std::shared_ptr<const Program> program) : program_(std::move(program)) {}
  const std::shared_ptr<const Program>& shared_program() const { return program_; }

 private:
  const std::shared_ptr<const Program> program_;
};

class Backend {
 public:
  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  /// The target for which its programs must be planned.
  virtual const Target& target() const = 0;
  /// Does it run the steps of a block in order? Then dependencies aren't computed, and ProgramStep::after is empty.
  virtual bool runs_in_order() const { return false; }
  /// Compiles every kernel. The caller must have checked can_run() (runtime/runnable.h); a kernel without code is an
  /// error of kind kUnsupported.
  virtual Result<std::unique_ptr<LoadedProgram>> load(LoweredProgram lowered) const = 0;

 protected:
  Backend() = default;
};

}  // namespace lowtide::engine
