#pragma once
/// Which instructions do the same in different places, as those of a network's equal layers do.

#include <cstdint>
#include <vector>

#include "ir/module.h"

namespace lowtide::engine {

/// For each instruction of a computation, by its place in the order: a hash of what it computes, and of what is
/// computed within two steps before and after it (colour refinement, as in Weisfeiler and Leman's test for the
/// isomorphism of graphs). Numbers of parameters, names and values of constants make no difference.
std::vector<uint64_t> roles_of(const Computation& computation);

/// The instructions with the same role as this one, which is among them, in program order.
std::vector<Instruction*> with_same_role(const Instruction& instruction);

}  // namespace lowtide::engine
