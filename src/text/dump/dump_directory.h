#pragma once
/// Directories that XLA fills with --xla_dump_to: several modules, several stages of each, reports and much else.

#include <string>

#include "base/status.h"
#include "text/input.h"

namespace lowtide::engine {

/// Picks a module by its name, its file's name or a part of them, the largest where none is given, at its latest stage
/// or as XLA took it; reads it and its reports. Not verified.
/// Errors: a directory without a module, or without that stage of it; a name of none or several of them; a picked file
/// that can't be read.
Result<Input> read_dump_directory(const std::string& path, const std::string& module = {},
                                  InputStage stage = InputStage::kLatest, const std::shared_ptr<Context>& context = {});

}  // namespace lowtide::engine
