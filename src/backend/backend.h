#pragma once
/// The thing that compiles programs and runs them (docs/backends.md). Who plans asks a Target; who runs what was
/// planned hands it to a Backend of that target, and sees no more of either than these interfaces.

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

/// A program and its kernels: all that a backend is handed.
struct LoweredProgram {
  std::shared_ptr<const Program> program;
  /// By region, with its inputs' buffers before its outputs'; equal regions share one. Null: its step does nothing.
  std::vector<std::shared_ptr<const Nest>> nests;
};

/// The caller's memory, on the host. A backend with memory of its own copies from it and to it.
struct RunMemory {
  std::vector<void*> arguments;  ///< per argument leaf; donated ones are overwritten
  std::vector<void*> outputs;    ///< per result leaf; null where the result lives in an argument
  /// Program::temp_bytes of the caller's; null: the loaded program's own, as it is where the arena isn't on the host.
  std::byte* arena = nullptr;
};

/// A program that runs: compiled, with an arena of exactly the planned bytes.
class LoadedProgram {
 public:
  virtual ~LoadedProgram() = default;
  LoadedProgram(const LoadedProgram&) = delete;
  LoadedProgram& operator=(const LoadedProgram&) = delete;

  const Program& program() const { return *program_; }
  /// Bytes of the arena: Program::temp_bytes, and nothing beside them.
  int64_t arena_bytes() const { return program_->temp_bytes; }
  virtual const CompileRecord& compile_record() const = 0;
  /// Steps that run by their definition (runtime/interpreted.h): slow, and in memory of the interpreter's own.
  virtual int64_t interpreted() const = 0;
  /// The same program with an arena and a state of its own, for a run at the same time.
  virtual std::unique_ptr<LoadedProgram> another() const = 0;
  /// Runs once, to the end, and is of one caller while it does. Arena and pool are kept between runs.
  virtual Status run(const RunMemory& memory, ThreadPool& pool) = 0;
  /// Where result leaf i lies after run(): an output or a donated argument of the caller's.
  virtual const void* result(size_t leaf) const = 0;
  /// From now on each step's time is added to `times`, or nobody's where that is null. Does the backend know it?
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

  /// For which what it is handed was planned.
  virtual const Target& target() const = 0;
  /// Does it run the steps of a block in order? Then dependencies aren't computed, and ProgramStep::after is empty.
  virtual bool runs_in_order() const { return false; }
  /// Compiles every kernel. Whoever calls has asked can_run() (runtime/runnable.h) first; a kernel without code is a
  /// fault of kind kUnsupported.
  virtual Result<std::unique_ptr<LoadedProgram>> load(LoweredProgram lowered) const = 0;

 protected:
  Backend() = default;
};

}  // namespace lowtide::engine
