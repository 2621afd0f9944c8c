#include "ops/split_dimensions.h"

#include <algorithm>

namespace lowtide::engine {

SplitDims::SplitDims(const Dims& whole) {
  for (const int64_t extent : whole) parts_.push_back({extent});
}

bool SplitDims::is_split() const {
  return std::ranges::any_of(parts_, [](const Dims& parts) { return parts.size() > 1; });
}

bool SplitDims::splits_any(const Dims& dimensions) const {
  return std::ranges::any_of(dimensions, [&](int64_t d) { return is_split(static_cast<size_t>(d)); });
}

Dims SplitDims::extents() const {
  Dims extents;
  for (const Dims& parts : parts_) extents.insert(extents.end(), parts.begin(), parts.end());
  return extents;
}

int64_t SplitDims::number(int64_t d) const {
  size_t number = 0;
  for (int64_t before = 0; before < d; ++before) number += parts_[before].size();
  return static_cast<int64_t>(number);
}

Dims SplitDims::numbers(const Dims& dimensions) const {
  Dims numbers;
  for (const int64_t d : dimensions) {
    const auto parts = static_cast<int64_t>(parts_[d].size());
    for (int64_t part = 0; part < parts; ++part) numbers.push_back(number(d) + part);
  }
  return numbers;
}

bool split_by_element(SplitOperation&, Attributes&) { return true; }

bool split_operand_dimensions(SplitOperation& split, Attributes& attributes) {
  Dims& dimensions = std::get<DimensionsAttributes>(attributes).dimensions;
  dimensions = split.operands[0].numbers(dimensions);
  return true;
}

bool split_result_dimensions(SplitOperation& split, Attributes& attributes) {
  Dims& dimensions = std::get<DimensionsAttributes>(attributes).dimensions;
  dimensions = split.result.numbers(dimensions);
  return true;
}

}  // namespace lowtide::engine
