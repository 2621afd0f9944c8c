#pragma once
/// Compares results by one rule (lowtide/comparison.h), used by runs, by the tests of passes and by random programs.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "ir/literal.h"
#include "lowtide/comparison.h"

namespace lowtide::engine {

using lowtide::Comparison;
using lowtide::Tolerance;

/// Allows differences from another order of the same sums, and from functions within a few units in the last place.
Tolerance usual_tolerance(ElementType type);

/// Compares arrays, tuples leaf by leaf. `name` begins the sentence about the first mismatch.
Comparison compare(const Literal& got, const Literal& want, const Tolerance& tolerance, const std::string& name);

/// The same for elements in row-major order at any address, aligned or not; adds to `result`.
void compare_bytes(const Shape& array, const std::byte* got, const std::byte* want, const Tolerance& tolerance,
                   const std::string& name, Comparison& result);

/// Compares results with expected results, one by one, named out0, out1, ...
Comparison compare_results(std::span<const Value> got, std::span<const Value> want, const Tolerance& tolerance);

/// Empty, or a sentence about the first result that differs by more than the usual tolerance of its type.
std::string usual_difference(std::span<const Value> got, std::span<const Value> want);

}  // namespace lowtide::engine
