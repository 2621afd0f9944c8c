#pragma once
/// Whether a plan can be run: predicts what a backend of its target, or the first run, would refuse.

#include "base/status.h"
#include "schedule/program.h"
#include "target/target.h"

namespace lowtide::engine {

/// An error of kind kUnsupported with the message and the place that `run` would give. Operations in a branch that may
/// not be taken, and those that depend on values, are skipped; kInput for a missing host function, wherever it is
/// called.
Status can_run(const Program& program, const Target& target);
/// The same, including what is refused about the module before planning, as by `run`.
Status can_run(const Module& module, const Program& program, const Target& target);

}  // namespace lowtide::engine
