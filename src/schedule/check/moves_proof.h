#pragma once
/// Proofs for results that are made where an operand lies by moving bytes: boxes (schedule/box_moves.h), and whole
/// arrays in another order (schedule/rearrange.h). What must be moved is read off the kernel's loads and stores; what
/// the moves do, off the moves.

#include <string>

#include "schedule/check/in_place_proof.h"
#include "schedule/kernel_way.h"

namespace lowtide::engine {

/// Empty, or what the moves and the pieces that run after them do differently from the kernel.
std::string fault_of_moves(const PlacedKernel& kernel, const BoxMoves& moves);

/// The same of moves that take the place of the whole kernel.
std::string fault_of_rearrangement(const PlacedKernel& kernel, const Rearrangement& rearrangement);

}  // namespace lowtide::engine
