#pragma once
/// Slices of an array that is updated in place.

#include "ir/module.h"

namespace lowtide::engine {

inline constexpr int64_t kSmallestUpdated = 1 << 20;  ///< bytes; smaller arrays may be copied

/// Is it a slice of the array?
bool is_slice(const Instruction& i, const Instruction& of);
/// Does the slice begin where the update does? Then a kernel reads and writes the same places.
bool begins_with(const Instruction& update, const Instruction& slice);

}  // namespace lowtide::engine
