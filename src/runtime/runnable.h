#pragma once
/// Can a plan be run: what a backend of its target would refuse, and the first run, asked of the plan alone.

#include "base/status.h"
#include "schedule/program.h"
#include "target/target.h"

namespace lowtide::engine {

/// A fault of kind kUnsupported with the sentence and the place that `run` would give. Operations in a branch that need
/// not be taken, and those whose values decide, are passed over; kInput for a function of the host's that it hasn't
/// given, wherever it is called.
Status can_run(const Program& program, const Target& target);
/// The same, and what is refused of the module before it is planned: as `run` answers for it.
Status can_run(const Module& module, const Program& program, const Target& target);

}  // namespace lowtide::engine
