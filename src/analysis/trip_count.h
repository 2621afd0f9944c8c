#pragma once
/// The trip count of a loop, if the program determines it.

#include <cstdint>
#include <optional>

#include "ir/module.h"

namespace lowtide::engine {

/// An induction variable: a scalar carry that starts at a constant, increases by a constant in every iteration, and is
/// compared with a constant by the condition.
struct TripCount {
  int64_t trips = 0;
  int64_t carry = -1;           ///< the element of the loop's tuple that counts; -1: trips are known otherwise
  int64_t start = 0, step = 0;  ///< of the carry
};

/// The trip count of a `while`; nullopt if unknown. Recognises conditions `carry < n` in all directions and forms
/// (operands swapped, a loop-invariant constant), bodies `carry + k` and `carry - k`, and a known_trip_count in the
/// backend_config.
std::optional<TripCount> trip_count(const Instruction& loop);

/// The constant with which a scalar carry of the loop starts, and the constant that every iteration adds; nullopt if
/// one of them is unknown. An unchanged carry has step 0.
struct Progression {
  int64_t start = 0, step = 0;
};
std::optional<Progression> progression_of(const Instruction& loop, int64_t carry);

/// The constant that every iteration adds to the carry in the condition, whatever its start; nullopt if unknown.
std::optional<int64_t> trip_step(const Instruction& loop);

}  // namespace lowtide::engine
