#pragma once
/// A nest whose kernel serves arrays of every shape: the numbers that come from extents are arguments of the kernel.

#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/kernel_plan.h"
#include "nest/nest.h"

namespace lowtide::engine {

/// Where an extent or a coefficient of a nest is kFirstGiven + k, the kernel is given it as number k of its arguments.
inline constexpr int64_t kFirstGiven = INT64_MIN / 2;
inline constexpr int64_t kMostGiven = 6;  ///< more take long to compile, and belong to nests that are of one shape
constexpr bool is_given(int64_t number) { return number >= kFirstGiven && number < kFirstGiven + kMostGiven; }

struct ShapeFree {
  Nest nest;                   ///< has kFirstGiven + k for given[k], and says nothing of the sizes of its buffers
  std::vector<int64_t> given;  ///< each number once
};

/// Nothing where the code itself depends on extents: iterations that are told apart by their index, tiles, loops that
/// are written out. Numbers that are equal share an argument, so that nests of two shapes have one text only where the
/// same of their numbers are equal.
std::optional<ShapeFree> shape_free(const Nest& nest, const KernelPlan& plan);

}  // namespace lowtide::engine
