#pragma once
/// Directories that XLA fills with --xla_dump_to: several modules, several stages of each, reports and much else.

#include <string>

#include "base/status.h"
#include "text/input.h"

namespace lowtide {

/// Picks the largest module and its latest stage by names and contents; reads it and its reports. Not verified.
/// Errors: a directory without a module, or whose picked file can't be read.
Result<Input> read_dump_directory(const std::string& path);

}  // namespace lowtide
