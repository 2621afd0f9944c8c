#pragma once
/// Schedules work that has been formed.

#include "schedule/program.h"

namespace lowtide::engine {

Program schedule_work(std::shared_ptr<const Module> module, const ModuleWork& work, const ScheduleOptions& options);

}  // namespace lowtide::engine
