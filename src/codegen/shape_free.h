#pragma once
/// A nest whose kernel serves arrays of every shape: the numbers that come from extents are arguments of the kernel.

#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/kernel_plan.h"
#include "nest/nest.h"

namespace lowtide::engine {

/// Where an extent or a coefficient of a nest is kFirstGiven + k, the kernel receives it as number k of its arguments.
inline constexpr int64_t kFirstGiven = INT64_MIN / 2;
inline constexpr int64_t kMostGiven = 6;  ///< nests with more compile slowly, and usually have just one shape
constexpr bool is_given(int64_t number) { return number >= kFirstGiven && number < kFirstGiven + kMostGiven; }

struct ShapeFree {
  Nest nest;                   ///< has kFirstGiven + k for given[k], and doesn't state the sizes of its buffers
  std::vector<int64_t> given;  ///< each number once
};

/// None if the code itself depends on extents: iterations distinguished by their index, tiles, unrolled loops. Equal
/// numbers share an argument, so nests of two shapes have the same text only if the same of their numbers are equal.
std::optional<ShapeFree> shape_free(const Nest& nest, const KernelPlan& plan);

}  // namespace lowtide::engine
