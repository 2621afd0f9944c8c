#pragma once
/// XLA, which is handed HLO and runs it somewhere else: it fuses, orders and packs by itself.

#include <memory>

#include "target/target.h"

namespace lowtide::engine {

const Target& xla_target();
/// Whose time is that of programs for `modelled_as`, which lives as long.
std::unique_ptr<const Target> xla_target_like(const Target& modelled_as);

}  // namespace lowtide::engine
