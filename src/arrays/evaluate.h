#pragma once
/// From a graph to elements: its structure is looked up among those that were planned, or planned; then the plan runs
/// on the graph's own arrays.

#include <optional>

#include "arrays/runtime.h"

namespace lowtide::lazy {

/// wait: until it is done. most: bytes that the plan may need beside arrays that it doesn't use; none: the process's
/// limit.
void evaluate(const std::vector<array>& outputs, bool wait, std::optional<int64_t> most = {});
/// The program of a function, of which the inputs are the arguments; the last of them are these arrays, which stand,
/// and become constants.
Module module_of(const Function& function, const std::string& name = "arrays",
                 const std::vector<array>& constants = {});
/// The structure of a function.
std::string key_of(const std::vector<array>& inputs, const std::vector<array>& outputs);

}  // namespace lowtide::lazy
