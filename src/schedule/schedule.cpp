#include "schedule/schedule_work.h"

namespace lowtide {

Program schedule(std::shared_ptr<const Module> module, const ScheduleOptions& options) {
  const ModuleWork work = form_work(*module, options.form);
  return schedule_work(std::move(module), work, options);
}

}  // namespace lowtide
