#pragma once
/// Sums of kPanelRows rows times few columns, with terms in the lanes of a vector: columns, which fill the lanes of a
/// panel, would leave most of them empty.

#include <cstdint>
#include <span>

#include "library/panel_kernel.h"
#include "library/vectors.h"

namespace lowtide::engine {

inline constexpr int64_t kFewColumns = 4;
/// Least number of terms of each run: the lanes of the widest vector.
template <class S>
inline constexpr int64_t kShortestRun = kWidestVector / static_cast<int64_t>(sizeof(S));

/// Columns are packed one after another: term k of column j at right[j * depth + k]. All runs have step 1 and are
/// consecutive along the columns. S: float or double.
template <class S>
void multiply_few_columns(std::span<const RowRun<S>> runs, const S* right, int64_t depth, const PanelSums<S>& sums,
                          Joining joining);

}  // namespace lowtide::engine
