#pragma once
/// Proofs for results that are computed in place by moving bytes: boxes (schedule/box_moves.h), and whole arrays in
/// another order (schedule/rearrange.h). The required moves are derived from the kernel's loads and stores, and
/// compared with the effect of the planned moves.

#include <string>

#include "schedule/check/in_place_proof.h"
#include "schedule/kernel_way.h"

namespace lowtide::engine {

/// Empty, or how the moves and the pieces that run after them differ from the kernel.
std::string fault_of_moves(const PlacedKernel& kernel, const BoxMoves& moves);

/// The same for moves that replace the whole kernel.
std::string fault_of_rearrangement(const PlacedKernel& kernel, const Rearrangement& rearrangement);

}  // namespace lowtide::engine
