#include "schedule/schedule_work.h"

namespace lowtide::engine {

Program schedule(std::shared_ptr<const Module> module, const Target& target, const ScheduleOptions& options) {
  const ModuleWork work = form_work(*module, target, options.form);
  return schedule_work(std::move(module), work, options);
}

}  // namespace lowtide::engine
