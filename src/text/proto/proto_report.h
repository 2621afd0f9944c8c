#pragma once
/// The buffer assignment that XLA writes into an HloProto beside the module.

#include <optional>
#include <string_view>

#include "text/input.h"

namespace lowtide::engine {

/// Allocations with their values, as `*-buffer-assignment.txt` lists them; nullopt where the file has no assignment.
std::optional<XlaReport> report_in_proto(std::string_view bytes);

}  // namespace lowtide::engine
