#pragma once
/// Do two results agree: the one rule (lowtide/comparison.h), used by runs, by the tests of the passes and by the
/// random programs.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "ir/literal.h"
#include "lowtide/comparison.h"

namespace lowtide::engine {

using lowtide::Comparison;
using lowtide::Tolerance;

/// What another order of the same sums, and functions within a few units in the last place, can explain.
Tolerance usual_tolerance(ElementType type);

/// Compares arrays, tuples leaf by leaf. `name` opens the sentence of the first mismatch.
Comparison compare(const Literal& got, const Literal& want, const Tolerance& tolerance, const std::string& name);

/// The same for elements in row-major order wherever they lie, aligned or not; adds to `result`.
void compare_bytes(const Shape& array, const std::byte* got, const std::byte* want, const Tolerance& tolerance,
                   const std::string& name, Comparison& result);

/// Results with expected results, one by one, named out0, out1, ...
Comparison compare_results(std::span<const Value> got, std::span<const Value> want, const Tolerance& tolerance);

/// Empty, or in words the first result that differs by more than the usual tolerance of its type.
std::string usual_difference(std::span<const Value> got, std::span<const Value> want);

}  // namespace lowtide::engine
