#pragma once
/// LOWTIDE_POISON=1: bytes of the arena that hold no value are filled with NaN, so that a read of them shows.

#include <span>
#include <vector>

#include "schedule/program.h"

namespace lowtide::engine {

/// 0xff in every byte: a NaN in all float types, -1 in integers, no predicate.
inline constexpr int kPoisonByte = 0xff;

/// The temporaries that die between the step before and this one, for every step in the order in which steps are laid
/// out (blocks of a step behind it, one after the other): storages, by number.
std::vector<std::vector<int32_t>> deaths(const Program& program);

}  // namespace lowtide::engine
