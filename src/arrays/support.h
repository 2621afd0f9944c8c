#pragma once
/// Helpers of the operations of ops.h: axes, broadcasting, promotion, errors.

#include <fmt/format.h>

#include <numeric>
#include <stdexcept>

#include "arrays/primitives.h"

namespace lowtide::lazy {

template <class... Args>
[[noreturn]] void fault(std::string_view operation, fmt::format_string<Args...> format, Args&&... args) {
  throw std::invalid_argument(fmt::format("{}: {}", operation, fmt::format(format, std::forward<Args>(args)...)));
}

/// The axis counted from 0. An axis that doesn't exist is std::out_of_range.
inline int64_t axis_of(std::string_view operation, int64_t axis, size_t rank) {
  const auto dimensions = static_cast<int64_t>(rank);
  if (axis < -dimensions || axis >= dimensions)
    throw std::out_of_range(
        fmt::format("{}: found axis {}, expected one of an array of {} dimensions", operation, axis, rank));
  return axis < 0 ? axis + dimensions : axis;
}

/// The axes counted from 0, ascending and distinct.
Dims axes_of(std::string_view operation, const std::vector<int>& axes, size_t rank);
inline Dims all_axes(size_t rank) {
  Dims axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

/// The shape to which both shapes are broadcast.
Shape broadcast_shape(std::string_view operation, const Shape& a, const Shape& b);
array broadcast_as(std::string_view operation, const array& a, const Shape& shape, StreamOrDevice s);
inline Dtype at_least_float(Dtype dtype) { return issubdtype(dtype, inexact) ? dtype : float32; }
inline array to_float(const array& a, StreamOrDevice s) {
  return issubdtype(a.dtype(), inexact) ? a : elementwise(Op::kConvert, {a}, float32, s);
}
array as_type(const array& a, Dtype dtype, StreamOrDevice s);
/// The type of a product of both: a float, or complex64.
Dtype product_type(std::string_view name, const array& a, const array& b);
/// As sort_by(), also for complex numbers: ordered by real parts, and if these are equal by imaginary parts.
std::vector<array> ascending(std::vector<array> arrays, int64_t dimension, StreamOrDevice s);

}  // namespace lowtide::lazy
