#pragma once
/// Reads directories written by XLA's --xla_dump_to: several modules, several stages of each, reports and other files.

#include <string>

#include "base/status.h"
#include "text/input.h"

namespace lowtide::engine {

/// Selects a module by its name, its file's name or a part of either, or else the largest, at its latest stage or as
/// XLA's input; reads it and its reports, without verifying it.
/// Errors: a directory without a module, or without that stage of it; a name of none or several modules; a selected
/// file that can't be read.
Result<Input> read_dump_directory(const std::string& path, const std::string& module = {},
                                  InputStage stage = InputStage::kLatest, const std::shared_ptr<Context>& context = {});

}  // namespace lowtide::engine
