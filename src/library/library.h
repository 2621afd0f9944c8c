#pragma once
/// Operations that a well-kept library, or code of its own kind, executes on whole arrays: row-major operands in,
/// row-major results out, scratch declared.

#include <memory>
#include <span>

#include "base/status.h"
#include "base/thread_pool.h"
#include "ir/module.h"

namespace lowtide::engine {

class LibraryRoutine {
 public:
  virtual ~LibraryRoutine() = default;
  /// Aligned as arrays are. A run takes nothing else that grows with shapes.
  virtual int64_t scratch_bytes() const = 0;
  /// Once, when a program is loaded, before the first run: makes what all runs read, much smaller than an operand.
  virtual void prepare() {}
  /// Operand and result leaves in order, depth first. Same bits for every number of threads.
  virtual Status run(std::span<const void* const> operands, std::span<void* const> results, void* scratch,
                     ThreadPool& pool) = 0;
};

/// Is there a routine for this instance? Otherwise it is made by regions, or can't run here.
bool in_library(const Instruction& instruction);
/// Null if not in_library. Cheap enough to be asked while planning.
std::unique_ptr<LibraryRoutine> library_routine(const Instruction& instruction);
/// Leaf of the operands (flattened) that result leaf `leaf` may overwrite while it is read; kNoId: none.
int library_in_place(const Instruction& instruction, int64_t leaf);

}  // namespace lowtide::engine
