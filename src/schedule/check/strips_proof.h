#pragma once
/// A proof that a kernel run tile by tile (schedule/strips.h) gives the same results as when run at once: the proof
/// follows the runtime's order, and at each tile the elements that its iterations load must not have been written back
/// yet. Which elements an iteration loads and stores is derived from the kernel; the strips' own statements aren't
/// trusted.

#include <string>

#include "schedule/check/in_place_proof.h"
#include "schedule/kernel_way.h"

namespace lowtide::engine {

/// Empty, or what goes wrong.
std::string fault_of_strips(const PlacedKernel& kernel, const Strips& strips);

}  // namespace lowtide::engine
