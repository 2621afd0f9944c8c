#pragma once
/// sums += kPanelRows rows, wherever their elements lie, times a packed panel of kPanelBytes of columns.

#include <array>
#include <complex>
#include <cstdint>
#include <span>

namespace lowtide::engine {

/// Rows whose sums are computed together, in registers.
inline constexpr int64_t kPanelRows = 6;
/// Bytes of a row of a right panel: element (k, j) at [k * columns + j].
inline constexpr int64_t kPanelBytes = 128;
template <class S>
inline constexpr int64_t kPanelColumns = kPanelBytes / static_cast<int64_t>(sizeof(S));

/// How the terms of one call are combined with the contents of `sums`.
enum class Joining : uint8_t {
  kAlone,    ///< there are none yet: `sums` may hold anything
  kAsPart,   ///< terms are first added up by themselves: shorter sums lose fewer bits
  kInOrder,  ///< terms are added one after another: the same bits, however many calls
};

/// Consecutive terms of the sums of kPanelRows rows: row i's factor of term k at rows[i][k * step].
template <class S>
struct RowRun {
  std::array<const S*, kPanelRows> rows;
  int64_t step = 1, depth = 0;
};

/// Sums that a call computes or adds to: rows of `stride` elements.
template <class S>
struct PanelSums {
  S* at;
  int64_t stride;
  int64_t columns;  ///< of the panel that are needed; further ones, up to a whole vector, may be overwritten
};

/// Runs are consecutive along the depth of the right panel. S: float, double, uint32_t, uint64_t, std::complex of both.
template <class S>
void multiply_rows(std::span<const RowRun<S>> runs, const S* right, const PanelSums<S>& sums,
                   Joining joining = Joining::kAsPart);

/// The same if the rows are packed, too: element (i, k) at [k * kPanelRows + i].
template <class S>
void multiply_panels(const S* left, const S* right, int64_t depth, const PanelSums<S>& sums,
                     Joining joining = Joining::kAsPart) {
  RowRun<S> run{.step = kPanelRows, .depth = depth};
  for (size_t i = 0; i < run.rows.size(); ++i) run.rows[i] = left + i;
  multiply_rows<S>(std::span<const RowRun<S>>(&run, 1), right, sums, joining);
}

/// The same for several panels of rows, one after another: row i's factor of term k at left[k * pitch + i].
template <class S>
void multiply_lines(const S* left, int64_t pitch, int64_t panels, const S* right, int64_t depth,
                    const PanelSums<S>& sums, Joining joining);

}  // namespace lowtide::engine
