#include "session/targets.h"

#include "target/machines.h"
#include "target/xla.h"

namespace lowtide::engine {

void Targets::set(const Target& ours, const Settings& settings) {
  program_ = ours.priced_as(*read_machine(settings.choices.machine));
  LT_ASSERT(program_ != nullptr, "what a session runs on knows the prices of other machines");
  xla_ = xla_target_like(*program_);
}

}  // namespace lowtide::engine
