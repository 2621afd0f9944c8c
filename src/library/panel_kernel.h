#pragma once
/// sums += left panel times right panel, for panels of kPanelRows and kPanelBytes of columns.

#include <complex>
#include <cstdint>

namespace lowtide::engine {

/// Rows of a left panel: element (i, k) at [k * kPanelRows + i].
inline constexpr int64_t kPanelRows = 6;
/// Bytes of a row of a right panel: element (k, j) at [k * columns + j].
inline constexpr int64_t kPanelBytes = 128;
template <class S>
inline constexpr int64_t kPanelColumns = kPanelBytes / static_cast<int64_t>(sizeof(S));

/// How the terms of one call join what is in `sums` already.
enum class Joining : uint8_t {
  kAsPart,   ///< added up by themselves first: shorter sums lose fewer bits
  kInOrder,  ///< one after the other: the same bits, in however many calls
};

/// `sums` has rows of `stride` elements, aligned to 64 bytes. S: float, double, uint32_t, uint64_t, std::complex of
/// both.
template <class S>
void multiply_panels(const S* left, const S* right, int64_t depth, S* sums, int64_t stride,
                     Joining joining = Joining::kAsPart);

}  // namespace lowtide::engine
