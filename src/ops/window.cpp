#include "ops/window.h"

#include <fmt/format.h>

namespace lowtide {

int64_t window_positions(const Window& window, size_t d, int64_t base) {
  const int64_t padded = dilated(base, window.lhs_dilate[d]) + window.pad_low[d] + window.pad_high[d];
  const int64_t reach = dilated(window.size[d], window.rhs_dilate[d]);
  return padded < reach || padded <= 0 ? 0 : (padded - reach) / window.stride[d] + 1;
}

Status check_window(const Instruction& instruction, const Window& window, size_t rank, int constraint) {
  constexpr int64_t kLargest = int64_t{1} << 30;  // products of two fields and an extent of 2^31 stay in 64 bits
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
  return {};
}

}  // namespace lowtide
