#pragma once
/// XLA, which is handed HLO and runs it somewhere else: it fuses, orders and packs by itself.

#include "target/target.h"

namespace lowtide::engine {

const Target& xla_target();

}  // namespace lowtide::engine
