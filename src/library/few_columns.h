#pragma once
/// sums of kPanelRows rows times a few columns, where lanes are terms: a panel's lanes, which are columns, would be
/// empty.

#include <cstdint>
#include <span>

#include "library/panel_kernel.h"
#include "library/vectors.h"

namespace lowtide::engine {

inline constexpr int64_t kFewColumns = 4;
/// Terms that each run has at least: as many as the widest vector has lanes.
template <class S>
inline constexpr int64_t kShortestRun = kWidestVector / static_cast<int64_t>(sizeof(S));

/// Columns are packed one after another: term k of column j at right[j * depth + k]. All runs step by one element, and
/// follow each other along the columns. S: float or double.
template <class S>
void multiply_few_columns(std::span<const RowRun<S>> runs, const S* right, int64_t depth, const PanelSums<S>& sums,
                          Joining joining);

}  // namespace lowtide::engine
