#pragma once
/// Scheduling of work that is formed already.

#include "schedule/program.h"

namespace lowtide::engine {

Program schedule_work(std::shared_ptr<const Module> module, const ModuleWork& work, const ScheduleOptions& options);

}  // namespace lowtide::engine
