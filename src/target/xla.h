#pragma once
/// XLA, which takes HLO and runs it elsewhere: it fuses, orders and packs by itself.

#include <memory>

#include "target/target.h"

namespace lowtide::engine {

const Target& xla_target();
/// Programs for `modelled_as`, which must outlive the target, model its time.
std::unique_ptr<const Target> xla_target_like(const Target& modelled_as);

}  // namespace lowtide::engine
