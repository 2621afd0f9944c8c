#include "ops/start_indices.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/infer.h"

namespace lowtide {

Status check_start_indices(const Instruction& instruction, std::string_view label, size_t first, int64_t rank) {
  const size_t count = instruction.operands.size() - first;
  bool integers = true, scalars = true;
  for (size_t i = first; i < instruction.operands.size(); ++i) {
    integers = integers && (kind_of(instruction.operand(i).shape.type) & kIntegers);
    scalars = scalars && instruction.operand(i).shape.rank() == 0;
  }
  const bool vector = count == 1 && instruction.operand(first).shape.dims == Dims{rank};
  if (!integers || !(vector || (scalars && count == static_cast<size_t>(rank)))) {
    return broken(instruction, label,
                  fmt::format("expects {} scalar integers as start indices, or one vector of them, got {} operands",
                              rank, count));
  }
  return {};
}

Dims clamped_starts(Operands indices, const Dims& extents, const Dims& sizes) {
  const bool vector = indices.size() == 1 && indices[0]->shape().rank() == 1;
  Dims starts;
  for (size_t d = 0; d < extents.size(); ++d) {
    const Literal& index = vector ? *indices[0] : *indices[d];
    int64_t start = integer_at(index, vector ? static_cast<int64_t>(d) : 0);
    if (index.shape().type == ElementType::kU64 && start < 0) start = INT64_MAX;  // beyond every extent
    starts.push_back(std::clamp<int64_t>(start, 0, extents[d] - sizes[d]));
  }
  return starts;
}

}  // namespace lowtide
