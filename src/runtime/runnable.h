#pragma once
/// Can a plan be run here: what Executable::make() and the first run would refuse, asked of the plan alone.

#include "base/status.h"
#include "schedule/program.h"

namespace lowtide::engine {

/// A fault of kind kUnsupported with the sentence and the place that `run` would give. Operations in a branch that need
/// not be taken, and those whose values decide, are passed over.
Status can_run(const Program& program);
/// The same, and what is refused of the module before it is planned: as `run` answers for it.
Status can_run(const Module& module, const Program& program);

}  // namespace lowtide::engine
