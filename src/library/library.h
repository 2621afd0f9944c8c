#pragma once
/// Operations that a library, or dedicated code, executes on whole arrays: row-major operands in, row-major results
/// out, scratch declared.

#include <memory>
#include <span>

#include "base/status.h"
#include "base/thread_pool.h"
#include "ir/module.h"

namespace lowtide::engine {

class LibraryRoutine {
 public:
  virtual ~LibraryRoutine() = default;
  /// Scratch is aligned as arrays are. A run allocates nothing else that grows with shapes.
  virtual int64_t scratch_bytes() const = 0;
  /// Called once, when a program is loaded, before the first run: computes data that all runs read, much smaller than
  /// an operand.
  virtual void prepare() {}
  /// Operand and result leaves in order, depth first. Same bits for every number of threads.
  virtual Status run(std::span<const void* const> operands, std::span<void* const> results, void* scratch,
                     ThreadPool& pool) = 0;
};

/// Is there a routine for this instance? Otherwise regions compute it, or it can't run here.
bool in_library(const Instruction& instruction);
/// Null if not in_library. Cheap enough to call while planning.
std::unique_ptr<LibraryRoutine> library_routine(const Instruction& instruction);
/// The leaf of the (flattened) operands that result leaf `leaf` may overwrite while it is read; kNoId: none.
int library_in_place(const Instruction& instruction, int64_t leaf);

}  // namespace lowtide::engine
