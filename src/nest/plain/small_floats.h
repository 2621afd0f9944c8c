#pragma once
/// Floats of 16 bits and fewer: computed in f32, rounded to their type after every operation. A value of such a type is
/// held as the f32 it equals.

#include "nest/plain/plain.h"

namespace lowtide::engine {

inline bool is_small_float(ElementType type) { return is_floating(type) && type_bits(type) < 32; }

/// The f32 of equal value for stored bits (u16 or u8).
Plain widened(ElementType type, Plain stored);
/// An f32 rounded to the nearest number of the type, overflow and NaN as in base/small_types.h.
Plain rounded(ElementType type, Plain wide);
/// The stored bits of an f32 that is representable in the type.
Plain stored(ElementType type, Plain wide);

/// Rounds f64 to f32 so that rounding again, to a type with at least two bits less, equals rounding once.
Plain rounded_to_odd(Plain x);

}  // namespace lowtide::engine
