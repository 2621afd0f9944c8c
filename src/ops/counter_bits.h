#pragma once
/// Counter-based generators (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; SC 2011).

#include <array>
#include <cstdint>

#include "ir/module.h"

namespace lowtide::engine {

/// Threefry-2x32, 20 rounds.
std::array<uint32_t, 2> threefry2x32(std::array<uint32_t, 2> key, std::array<uint32_t, 2> counter);

/// Philox-4x32, 10 rounds.
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 2> key, std::array<uint32_t, 4> counter);

/// The initial counter of the hidden generator behind `rng`, the same as XLA's.
inline constexpr uint64_t kHiddenCounter = 0x7012395;
/// By how much an `rng` advances that counter, in blocks of four words.
uint64_t blocks_of_rng(const Instruction& rng);

}  // namespace lowtide::engine
