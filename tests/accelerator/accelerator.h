#pragma once
/// The simulated accelerator: a second target and a second backend, from the interfaces alone. It has no routines, runs
/// kernels as grids of threads, everything else by its definition, and starts steps in whatever order they may start
/// in.

#include <map>
#include <memory>

#include "backend/backend.h"
#include "support/grid_run.h"

namespace lowtide::engine {

/// As many cores as a small one has multiprocessors, memory apart from the host's, no library, and no way to write in
/// place but that a kernel writes elements where it read them.
const Target& accelerator_target();

class AcceleratorBackend final : public Backend {
 public:
  const Target& target() const override { return accelerator_target(); }
  Result<std::unique_ptr<LoadedProgram>> load(LoweredProgram lowered) const override;

  /// Of programs that are loaded from now on.
  uint64_t seed = 1;
  const ProgramStep* last = nullptr;  ///< completes as late as it may
  bool tells_races = true;            ///< a run in which two launches race is a fault

 private:
  /// Of one program, or of copies of it with the same nests.
  mutable std::map<std::shared_ptr<const Nest>, std::shared_ptr<const HostGrid>> kernels_;
};

}  // namespace lowtide::engine
