#pragma once
/// Floats of 16 bits and fewer: computed in f32, rounded to their type after every operation. A value of such a type is
/// held as the f32 it equals.

#include "nest/plain/plain.h"

namespace lowtide::engine {

inline bool is_small_float(ElementType type) { return is_floating(type) && type_bits(type) < 32; }

/// The f32 that stored bits (u16 or u8) stand for.
Plain widened(ElementType type, Plain stored);
/// An f32 rounded to the nearest number of the type, overflow and NaN as base/small_types.h has them.
Plain rounded(ElementType type, Plain wide);
/// The stored bits of an f32 that is a number of the type.
Plain stored(ElementType type, Plain wide);

/// f64 to f32 such that rounding again, to a type with two bits less or fewer, gives what rounding once would.
Plain rounded_to_odd(Plain x);

}  // namespace lowtide::engine
