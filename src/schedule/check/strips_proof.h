#pragma once
/// A proof that a kernel run tile by tile (schedule/strips.h) gives what it gives at once: the run is followed as the
/// runtime makes it, and at each tile what its iterations load must not have been written back yet. Which elements an
/// iteration loads and stores is read off the kernel; all that the strips say of it is a claim.

#include <string>

#include "schedule/check/in_place_proof.h"
#include "schedule/kernel_way.h"

namespace lowtide::engine {

/// Empty, or what goes wrong.
std::string fault_of_strips(const PlacedKernel& kernel, const Strips& strips);

}  // namespace lowtide::engine
