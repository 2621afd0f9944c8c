#pragma once
/// Evaluates graphs: the graph's structure is looked up among the cached plans, and planned if it isn't there; then the
/// plan runs on the graph's arrays.

#include <optional>

#include "arrays/runtime.h"

namespace lowtide::lazy {

/// wait: until the run is done. most: a limit on the plan's peak in bytes, in addition to the process's limit, which
/// counts all live arrays; none: only that limit.
void evaluate(const std::vector<array>& outputs, bool wait, std::optional<int64_t> most = {});
/// The program of a function, whose inputs become arguments, except that the last inputs are these `constants`, which
/// are already computed.
Module module_of(const Function& function, const std::string& name = "arrays",
                 const std::vector<array>& constants = {});
/// The key of a function's structure (Key).
std::string key_of(const std::vector<array>& inputs, const std::vector<array>& outputs);

}  // namespace lowtide::lazy
