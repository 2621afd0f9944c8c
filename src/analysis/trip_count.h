#pragma once
/// How often a loop runs, where the program says so.

#include <cstdint>
#include <optional>

#include "ir/module.h"

namespace lowtide::engine {

/// An induction variable: a scalar carry that starts at a constant and gains a constant in every iteration, and against
/// which the condition compares a constant.
struct TripCount {
  int64_t trips = 0;
  int64_t carry = -1;           ///< the element of the loop's tuple that counts; -1: known from elsewhere
  int64_t start = 0, step = 0;  ///< of the carry
};

/// Of a `while`; nothing where it can't be told. Understands conditions `carry < n` in all directions and spellings
/// (operands swapped, a constant that is carried unchanged), bodies `carry + k` and `carry - k`, and a
/// known_trip_count in the backend_config.
std::optional<TripCount> trip_count(const Instruction& loop);

/// The constant that a scalar carry of the loop starts with, and the constant that it gains in every iteration; nothing
/// where one of them isn't known. A carry that stays as it is gains 0.
struct Progression {
  int64_t start = 0, step = 0;
};
std::optional<Progression> progression_of(const Instruction& loop, int64_t carry);

/// What the carry that the condition compares gains in an iteration, where that is a constant, wherever it starts.
std::optional<int64_t> trip_step(const Instruction& loop);

}  // namespace lowtide::engine
