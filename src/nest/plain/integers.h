#pragma once
/// HLO's integer arithmetic on plain nodes: division by zero and too long shifts have defined results, and types
/// narrower than a byte wrap. Integers of 1, 2 and 4 bits are held in s8 and u8, extended by their sign.

#include "nest/plain/plain.h"

namespace lowtide::engine {

/// The plain type in which integers of this type are held.
ElementType held_integer(ElementType type);
/// The unsigned type of the same width.
ElementType unsigned_like(ElementType type);
/// Wraps to the range of a type narrower than a byte; other types are unchanged.
Plain wrapped(ElementType type, Plain held);

/// A binary operation of HLO on integers of `type`.
Plain integer_operation(Opcode opcode, ElementType type, Plain a, Plain b);
/// A unary operation.
Plain integer_operation(Opcode opcode, ElementType type, Plain a);

/// Floats to integers of `type`: truncated, saturating, NaN gives 0.
Plain integer_from_float(ElementType type, Plain x);
/// Integers to f32 and f64, rounded to nearest even.
Plain float_from_integer(ElementType type, Plain integer);

}  // namespace lowtide::engine
