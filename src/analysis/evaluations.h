#pragma once
/// How often, and through which index maps, a kernel evaluates a value that it computes itself.

#include <cstdint>

#include "ops/evaluations.h"

namespace lowtide::engine {

/// The evaluations of the array that a kernel stores: once per element, through the identity map.
Evaluations evaluations_of_root(int32_t kernel, const Shape& shape);

/// The evaluations of operand number `operand`, the array `read`, that follow from those of `user`. `update`: the user
/// is a root that overwrites an operand in place and visits only the elements of its updates.
Evaluations evaluations_of_operand(const Evaluations& of_user, const Instruction& user, int32_t operand,
                                   const Shape& read, bool update);

/// The number of elements of operand 0 from which one element of the result is computed.
double terms_of(const Instruction& i);
/// The trip count of a while loop, guessed from the constants in its condition.
double guessed_trips(const Instruction& loop);

}  // namespace lowtide::engine
