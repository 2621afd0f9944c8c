#include "session/targets.h"

#include "target/cpu.h"
#include "target/machines.h"
#include "target/xla.h"

namespace lowtide::engine {

Targets::Targets(const Context& context)
    : program_(cpu_target_like(*read_machine(context.settings().choices.machine))), xla_(xla_target_like(*program_)) {}

}  // namespace lowtide::engine
