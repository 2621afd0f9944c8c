#pragma once
/// A plan that runs.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lowtide/error.h"
#include "lowtide/module.h"
#include "lowtide/run.h"
#include "lowtide/visibility.h"

namespace lowtide {

/// Memory of an argument: any that the caller has, as many bytes as ProgramArray::bytes says, aligned to 64.
struct Argument {
  void* data = nullptr;
  /// The run may overwrite it, and results may come to lie in it (ProgramArray::can_be_donated). Otherwise the bytes
  /// stay as they are; a program that would have overwritten them works on a copy, beside the planned bytes.
  bool donated = false;
};

/// Bytes that a run may use as its arena, aligned to 64; none: the executable's own.
struct Arena {
  void* data = nullptr;
  int64_t bytes = 0;  ///< at least Executable::arena_bytes()
};

/// A run that was started. Copies are of the same run; where the last of them ends, it is waited for.
class LOWTIDE_PUBLIC Event {
 public:
  bool is_done() const;
  /// Until it is done; what it came to. May be asked again.
  Result<void> wait() const;

  struct State;
  explicit Event(std::shared_ptr<State> state);

 private:
  std::shared_ptr<State> state_;
};

/// Shared; run() and start() may be called from several threads at once, each run has an arena of its own.
class LOWTIDE_PUBLIC Executable {
 public:
  const std::vector<ProgramArray>& arguments() const;
  const std::vector<ProgramArray>& results() const;
  /// By result the argument in whose memory it ends where a run may have that (Argument::donated), so that the result's
  /// memory can be the argument's; -1: none, it has memory of its own.
  const std::vector<int64_t>& result_homes() const;
  int64_t arena_bytes() const;
  /// Operations that run by their definition, for want of code: slow, in memory of the interpreter's.
  int64_t interpreted() const;
  /// Kernels that were compiled for it: those of its steps that stood in no cache.
  int64_t compiled() const;

  /// Runs, and returns when all is done. results: memory for each, of its ProgramArray::bytes, aligned to 64 bytes; it
  /// may be the memory of a donated argument, in which it can live. kUsage where numbers or alignments are wrong.
  Result<void> run(std::span<const Argument> arguments, std::span<void* const> results, Arena arena = {}) const;
  /// The same on a thread of its own. The memory stays the caller's to keep until the event is done.
  Event start(std::vector<Argument> arguments, std::vector<void*> results, Arena arena = {}) const;

  /// With arguments from a file and results to one. kInput where those of the file aren't the program's.
  Result<Run> bind(RunFiles files = {}) const;

  struct State;
  explicit Executable(std::shared_ptr<State> state);

 private:
  std::shared_ptr<State> state_;
};

}  // namespace lowtide
