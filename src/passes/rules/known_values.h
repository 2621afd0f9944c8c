#pragma once
/// Small values that are known: computed only from constants and iotas.

#include "ir/module.h"
#include "passes/rules/maker.h"

namespace lowtide::engine {

inline constexpr int64_t kMostKnownElements = int64_t{1} << 14;  ///< of every value on the way

/// Computed by the operations' definitions; null if it depends on unknown values, or on too many.
Value known_value(const Instruction& value);

/// The scalar integer, or the only element, as a place in an array (index_at).
std::optional<int64_t> known_index(const Instruction& value);

/// The corner of a box that a dynamic-slice or dynamic-update-slice takes, clamped: its operands from `first` on are
/// known. `sizes`: the box's extents.
std::optional<Dims> known_corner(const Instruction& i, size_t first, const Dims& sizes);

/// All places [start, start + size) of a value, with stride 1; the value itself where that is all of it.
Instruction* box_of(Instruction* value, const Dims& start, const Dims& size, Maker& maker);
/// The value with a part written over the places from `start` on.
Instruction* with_box(Instruction* value, Instruction* part, const Dims& start, Maker& maker);

}  // namespace lowtide::engine
