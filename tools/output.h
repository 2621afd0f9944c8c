#pragma once
/// Writes output of the command.

#include <string>
#include <string_view>

#include "lowtide/session.h"
#include "outcome.h"

namespace lowtide::command {

/// Writes all of it, or returns an errno.
int write_all(int descriptor, std::string_view content);
/// Writes the text to stdout. A closed pipe is no error.
Outcome print_stdout(std::string_view text);
/// Writes a file, completely or not at all, or to stdout for "-".
Outcome write_output(const Session& session, const std::string& path, std::string_view content);
/// Writes a program, as StableHLO if the name ends in `.mlir`, else as HLO text.
Outcome write_program(const Session& session, const std::string& path, const Module& module);

}  // namespace lowtide::command
