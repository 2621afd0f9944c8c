#pragma once
/// A compiled plan.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lowtide/error.h"
#include "lowtide/module.h"
#include "lowtide/run.h"
#include "lowtide/visibility.h"

namespace lowtide {

/// An argument's memory, the caller's: ProgramArray::bytes bytes, aligned to 64.
struct Argument {
  void* data = nullptr;
  /// The run may overwrite it, and results may alias it (ProgramArray::can_be_donated). Otherwise the bytes are left
  /// unchanged; a program that would overwrite them works on a copy, which is not part of the planned bytes.
  bool donated = false;
};

/// Bytes that a run may use as its arena, aligned to 64; none: the executable's own.
struct Arena {
  void* data = nullptr;
  int64_t bytes = 0;  ///< at least Executable::arena_bytes()
};

/// A run that was started. Copies refer to the same run; the destructor of the last one waits for it.
class LOWTIDE_PUBLIC Event {
 public:
  bool is_done() const;
  /// Waits until it is done and returns its outcome. May be called again.
  Result<void> wait() const;

  struct State;
  explicit Event(std::shared_ptr<State> state);

 private:
  std::shared_ptr<State> state_;
};

/// Copies share one executable; run() and start() may be called from several threads at once, and each run has its own
/// arena.
class LOWTIDE_PUBLIC Executable {
 public:
  const std::vector<ProgramArray>& arguments() const;
  const std::vector<ProgramArray>& results() const;
  /// For each result the argument whose memory it aliases if that argument is donated (Argument::donated), so that the
  /// caller can pass the argument's memory for the result; -1: none, the result needs memory of its own.
  const std::vector<int64_t>& result_homes() const;
  int64_t arena_bytes() const;
  /// How many operations are interpreted because there is no code for them: these are slow and use extra memory.
  int64_t interpreted() const;
  /// How many kernels were compiled for it: those that were in no cache.
  int64_t compiled() const;

  /// Runs, and returns when everything is done. results: memory for each result, of its ProgramArray::bytes, aligned to
  /// 64 bytes; it may be the memory of the donated argument that the result can alias. kUsage if the number of arrays
  /// or an alignment is wrong.
  Result<void> run(std::span<const Argument> arguments, std::span<void* const> results, Arena arena = {}) const;
  /// The same on a thread of its own. The caller keeps the memory valid until the event is done.
  Event start(std::vector<Argument> arguments, std::vector<void*> results, Arena arena = {}) const;

  /// Takes arguments from a file and writes results to one. kInput if the file's arguments don't match the program's.
  Result<Run> bind(RunFiles files = {}) const;

  struct State;
  explicit Executable(std::shared_ptr<State> state);

 private:
  std::shared_ptr<State> state_;
};

}  // namespace lowtide
