#pragma once
/// Rows of a panel side by side, in the order in which they are multiplied.

#include <array>
#include <cstdint>

#include "library/panel_kernel.h"

namespace lowtide::engine {

/// to[k * kPanelRows + i] = rows[i][k], for k < run.
void interleave(const std::array<const float*, kPanelRows>& rows, int64_t run, float* to);

}  // namespace lowtide::engine
