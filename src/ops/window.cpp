#include "ops/window.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/index_space.h"

namespace lowtide::engine {

int64_t window_positions(const Window& window, size_t d, int64_t base) {
  const int64_t padded = dilated(base, window.lhs_dilate[d]) + window.pad_low[d] + window.pad_high[d];
  const int64_t reach = dilated(window.size[d], window.rhs_dilate[d]);
  return padded < reach || padded <= 0 ? 0 : (padded - reach) / window.stride[d] + 1;
}

Status check_window(const Instruction& instruction, const Window& window, const Dims& bases, int constraint) {
  const size_t rank = bases.size();
  constexpr int64_t kLargest = int64_t{1} << 30;      // products of two fields fit 61 bits
  constexpr int64_t kLargestBase = int64_t{1} << 60;  // limit for a dilated extent
  for (const auto* field :
       {&window.size, &window.stride, &window.pad_low, &window.pad_high, &window.lhs_dilate, &window.rhs_dilate}) {
    if (field->size() != rank) {
      return broken(instruction, constraint, fmt::format("the window has rank {}, not {}", window.size.size(), rank));
    }
    const bool is_padding = field == &window.pad_low || field == &window.pad_high;
    for (const int64_t value : *field) {
      if (value > kLargest || value < (is_padding ? -kLargest : 1)) {
        return broken(instruction, constraint, fmt::format("the window can't have a field of {}", value));
      }
    }
  }
  if (window.rhs_reversal.size() != rank) {
    return broken(instruction, constraint, fmt::format("the window has rank {}, not {}", window.size.size(), rank));
  }
  for (size_t d = 0; d < rank; ++d) {
    if (bases[d] > kLargestBase / window.lhs_dilate[d]) {
      return broken(instruction, constraint,
                    fmt::format("extent {} dilated by {} is too large", bases[d], window.lhs_dilate[d]));
    }
  }
  return {};
}

TapRange taps_on_base(const Window& window, size_t d, int64_t p, int64_t base) {
  const int64_t start = p * window.stride[d] - window.pad_low[d], step = window.rhs_dilate[d];
  const int64_t end = dilated(base, window.lhs_dilate[d]);
  const int64_t first = start < 0 ? (-start + step - 1) / step : 0;
  const int64_t last = start < end ? (end - start + step - 1) / step : 0;
  return {first, std::min(last, window.size[d])};
}

Dims taps_of(const Window& window, const Dims& position, const Dims& extents) {
  const Dims strides = row_major_strides(extents);
  Dims offsets{0};
  for (size_t d = 0; d < extents.size(); ++d) {
    Dims next;
    const TapRange range = taps_on_base(window, d, position[d], extents[d]);
    for (const int64_t offset : offsets) {
      for (int64_t k = range.first; k < range.last; ++k) {
        if (const auto at = base_index(window, d, position[d], k, extents[d]))
          next.push_back(offset + *at * strides[d]);
      }
    }
    offsets = std::move(next);
  }
  return offsets;
}

}  // namespace lowtide::engine
