#pragma once
/// Computations of two scalars, which reduce and scatter apply to every element: most are a single operation and
/// needn't be interpreted for each element.

#include <cstddef>

#include "ir/module.h"

namespace lowtide::engine {

enum class CombinerKind {
  kSecond,   ///< returns its second parameter
  kBinary,   ///< one operation on its two parameters
  kGeneral,  ///< anything else: the computation has to be called
};

/// accumulator = combine(accumulator, value), on one stored element each (ir/types.def).
using CombineElements = void (*)(std::byte* accumulator, const std::byte* value);

/// The function for one operation on two scalars of a type; null if the operation isn't one of add, subtract, multiply,
/// maximum, minimum, and, or, xor, or isn't defined for the type.
CombineElements combine_by(Opcode opcode, ElementType type);

struct Combiner {
  CombinerKind kind = CombinerKind::kGeneral;
  CombineElements combine = nullptr;  ///< for kSecond and kBinary
};

/// How to combine an accumulator and a value, both of this element type. kGeneral unless the computation has exactly
/// two scalar parameters and a result of that type.
Combiner recognise_combiner(const Computation& computation, ElementType type);

/// Does it add its two parameters, both of this element type?
bool is_addition(const Computation& computation, ElementType type);

/// The neutral element of an associative operation (-0 for a sum of floats, the least value for a maximum); null for
/// other operations, and for small floats that lack it.
Value neutral_element(Opcode opcode, ElementType type);

/// Does the combiner, which must be of kind kBinary, give the same bits in any order? True for integers, since they
/// wrap, and for operations that select one of their operands, such as maximum.
bool is_order_free(const Computation& computation, ElementType type);

}  // namespace lowtide::engine
