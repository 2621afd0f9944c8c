#pragma once
/// The buffer assignment that XLA writes into an HloProto in addition to the module.

#include <optional>
#include <string_view>

#include "text/input.h"

namespace lowtide::engine {

/// Allocations with their values, as in `*-buffer-assignment.txt`; nullopt if the file has no assignment.
std::optional<XlaReport> report_in_proto(std::string_view bytes);

}  // namespace lowtide::engine
