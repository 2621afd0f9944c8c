#include "ops/extents.h"

namespace lowtide::engine {

void relate_window(ExtentRelater& r, const Window& w, size_t d, const WindowLine& line) {
  const ExtentReason why = r.why("windows over it");
  const int64_t base = r.extent(*line.base), positions = r.extent(*line.positions), size = w.size[d];
  const bool plain = w.stride[d] == 1 && w.lhs_dilate[d] == 1 && w.rhs_dilate[d] == 1;
  if (plain && line.window == nullptr && size == base && size > 1) {
    // Windows over all elements, or over all preceding or following ones.
    const bool all = positions == 1 && w.pad_low[d] == 0 && w.pad_high[d] == 0;
    const bool before = positions == base && w.pad_low[d] == base - 1 && w.pad_high[d] == 0;
    const bool after = positions == base && w.pad_low[d] == 0 && w.pad_high[d] == base - 1;
    if (all || before || after) {
      if (!all) r.all().unite(*line.base, *line.positions, why);
      r.tie(ExtentTie::Slot::kWindowSize, d, ExtentSum(*line.base));
      if (before) r.tie(ExtentTie::Slot::kWindowLow, d, ExtentSum(*line.base, -1));
      if (after) r.tie(ExtentTie::Slot::kWindowHigh, d, ExtentSum(*line.base, -1));
      return;
    }
  }
  if (size == 1 && plain && base == positions) return r.all().unite(*line.base, *line.positions, why);
  if (base == 0 || positions == 0) return r.all().freeze(*line.base, why), r.all().freeze(*line.positions, why);
  // lhs_dilate * base - stride * positions - rhs_dilate * window stays the same, with the elements left over.
  ExtentSum zero;
  zero.add(w.lhs_dilate[d], *line.base).add(-w.stride[d], *line.positions);
  zero.constant = w.stride[d] * positions - w.lhs_dilate[d] * base;
  if (line.window != nullptr) {
    zero.add(-w.rhs_dilate[d], *line.window);
    zero.constant += w.rhs_dilate[d] * size;
    r.tie(ExtentTie::Slot::kWindowSize, d, ExtentSum(*line.window));
  }
  r.all().relate(zero, why, false);
}

}  // namespace lowtide::engine
