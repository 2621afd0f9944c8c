#pragma once
/// How often, and under which index maps, a kernel evaluates a value that it computes itself.

#include <cstdint>

#include "ops/evaluations.h"

namespace lowtide::engine {

/// A kernel that stores an array of this shape: once per element, under the map that leaves the index as it is.
Evaluations evaluations_of_root(int32_t kernel, const Shape& shape);

/// What operand number `operand`, the array `read`, sees of these evaluations of `user`. `update`: the user is a root
/// that overwrites an operand in place and visits the elements of its updates alone.
Evaluations evaluations_of_operand(const Evaluations& of_user, const Instruction& user, int32_t operand,
                                   const Shape& read, bool update);

/// Elements of operand 0 that one element of the result is made from.
double terms_of(const Instruction& i);
/// Of a while: how often its body runs, a guess where that isn't plain.
double guessed_trips(const Instruction& loop);

}  // namespace lowtide::engine
