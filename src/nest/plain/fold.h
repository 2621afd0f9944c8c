#pragma once
/// The value of a plain operation on constants.

#include <optional>
#include <span>

#include "nest/builder.h"

namespace lowtide::engine {

std::optional<std::array<uint64_t, 2>> fold_plain(const Node& operation, std::span<const Node* const> operands);

}  // namespace lowtide::engine
