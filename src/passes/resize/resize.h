#pragma once
/// Derives the same program with other extents: a small one to run where the program itself is too large, a halved one
/// to see what that would need.
///
///     x = f32[4096,512] parameter(0)                            x = f32[24,16] parameter(0)
///     y = f32[8,512,512] reshape(x)                    ==>      y = f32[2,12,16] reshape(x)
///     z = f32[8,511,512] slice(y), slice={.., [1:512], ..}      z = f32[2,11,16] slice(y), slice={.., [1:12], ..}
///     while (i < 4096) { .. dynamic-slice(x, i, 0) .. }         while (i < 24) { .. dynamic-slice(x, i, 0) .. }
///
/// Structure and names are kept; shapes, attributes and constants that depend on extents change (extents.h). The result
/// is a well-typed program whose loops and indices stay in range if those of the module do; its results need not be
/// meaningful. Extents that can't change stay, with a reason.
///
/// Requires: verified.  Keeps: names, schedule, donation.  Breaks: what the program computes.
/// Tried and rejected: scaling all extents by one factor (heads and batches of one leave nothing to scale; halos are
///   pieces that mustn't shrink), inferring shapes anew from smaller arguments (reshapes, bounds and trip counts are
///   attributes that nothing infers).
/// Tests: tests/text/resize/, tests/unit/resize_test.cpp

#include <functional>
#include <memory>

#include "base/status.h"
#include "passes/resize/solve_extents.h"

namespace lowtide::engine {

/// One extent of a module, by a dimension that has it.
struct ExtentClass {
  int32_t atom = 0;
  int64_t extent = 0, now = 0;
  std::string reason;  ///< why it stays; empty if it changed, or no change was wanted
};

struct Resized {
  std::unique_ptr<Module> module;
  std::vector<ExtentClass> classes;  ///< all, by falling extent
  /// "2048 -> 16, 512 -> 12": those that changed, largest first.
  std::string summary() const;
  bool changed() const;
};

/// `wish`: maps an atom of `extents` and its extent to the wanted one.
Result<Resized> resize(const Module& module, const ModuleExtents& extents,
                       const std::function<int64_t(int32_t, int64_t)>& wish);

/// Wishes for a small instantiation: extents above `few` become distinct small ones, from `few` on, in their order;
/// multiples of `step` stay multiples of it.
std::function<int64_t(int32_t, int64_t)> small_extents(const ModuleExtents& extents, int64_t few, int64_t step = 4);

}  // namespace lowtide::engine
