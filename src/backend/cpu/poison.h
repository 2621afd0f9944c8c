#pragma once
/// LOWTIDE_POISON=1: bytes of the arena that hold no value are filled with NaN, so that a read of them shows.

#include <span>
#include <vector>

#include "schedule/program.h"

namespace lowtide::engine {

/// 0xff in every byte: a NaN in all float types, -1 in integers, no predicate.
inline constexpr int kPoisonByte = 0xff;

/// For every step in layout order (a step's blocks follow it, one after the other), the temporaries that die between
/// the previous step and this one: storages, by number.
std::vector<std::vector<int32_t>> deaths(const Program& program);

}  // namespace lowtide::engine
