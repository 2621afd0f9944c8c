#pragma once
/// Helpers that shape rules share: errors with labels, and checks of operands and extents.

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/status.h"
#include "ir/module.h"

namespace lowtide::engine {

/// A set of kinds of element types, for "an array of ...".
using Kinds = unsigned;
inline constexpr Kinds kPredicates = 1, kSignedIntegers = 2, kUnsignedIntegers = 4, kFloats = 8, kComplexes = 16;
inline constexpr Kinds kIntegers = kSignedIntegers | kUnsignedIntegers;
inline constexpr Kinds kBits = kPredicates | kIntegers;
inline constexpr Kinds kReals = kIntegers | kFloats;
inline constexpr Kinds kFloatsAndComplexes = kFloats | kComplexes;
inline constexpr Kinds kNumbers = kIntegers | kFloats | kComplexes;
inline constexpr Kinds kAnything = kNumbers | kPredicates;

Kinds kind_of(ElementType type);    ///< 0 for tuples, tokens, opaque handles
std::string describe(Kinds kinds);  ///< "floats or complex numbers"

/// Fault::kInput "pad: `sentence` (C2)"; with an empty label the sentence alone.
Status broken(const Instruction& instruction, std::string_view label, std::string_view sentence);

/// Checks that there are `count` operands (kAnyArity: at least one), each an array of one of these kinds.
Status check_operands(const Instruction& instruction, std::string_view label, int count, Kinds kinds);

/// Checks that the declared shape is an array of one of these kinds whose element count doesn't overflow.
Status check_declared(const Instruction& instruction, std::string_view label, Kinds kinds);

/// Returns `shape`, if its extents are not negative (or unbounded) and its bytes fit 63 bits; else an error.
Result<Shape> checked(const Instruction& instruction, Shape shape);

/// Are the extents equal? An unbounded dimension agrees with any extent.
bool same_extents(const Shape& a, const Shape& b);
inline bool agree(int64_t a, int64_t b) { return a == b || a == kUnboundedDim || b == kUnboundedDim; }

/// Is each entry in [0, rank), without duplicates?
bool are_distinct_dims(const Dims& dims, int64_t rank);
bool contains(const Dims& dims, int64_t dim);

}  // namespace lowtide::engine
