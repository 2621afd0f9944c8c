#pragma once
/// Small values that are known: computed only from constants and iotas.

#include "ir/module.h"
#include "passes/rules/maker.h"

namespace lowtide::engine {

inline constexpr int64_t kMostKnownElements = int64_t{1} << 14;  ///< of each value involved

/// Computed by the operations' definitions; null if it depends on unknown values, or on too many.
Value known_value(const Instruction& value);

/// The scalar integer, or the only element, as a place in an array (index_at).
std::optional<int64_t> known_index(const Instruction& value);

/// The clamped start of the box that a dynamic-slice or dynamic-update-slice accesses, if its operands from `first` on
/// are known. `sizes`: the box's extents.
std::optional<Dims> known_corner(const Instruction& i, size_t first, const Dims& sizes);

/// Elements [start, start + size) of a value, with stride 1; the value itself if these are all.
Instruction* box_of(Instruction* value, const Dims& start, const Dims& size, Maker& maker);
/// The value with a part written over the elements from `start` on.
Instruction* with_box(Instruction* value, Instruction* part, const Dims& start, Maker& maker);

}  // namespace lowtide::engine
