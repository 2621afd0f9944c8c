#pragma once
/// Mistakes on the command line: suggestions, and files that would be overwritten.

#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <string>
#include <vector>

#include "outcome.h"

namespace lowtide::command {

/// The message for a command line that CLI11 rejected, with commands or options of similar names.
std::string usage_fault(const CLI::App& app, const CLI::ParseError& error);

/// Accepts one of these words; suggests a similar one otherwise.
CLI::Validator one_of(std::vector<std::string> words);

/// A file that the command line names, and as what.
struct NamedFile {
  std::string option;  ///< "INPUT", "--plan"
  std::string path;    ///< empty: not given
};

/// Refuses an output that is an input, or another output: compared by device and inode, so that links and other
/// spellings are recognised. An input folder stands for all modules and reports in it; `file#part` for the file.
Outcome check_outputs(const std::vector<NamedFile>& inputs, const std::vector<NamedFile>& outputs);

}  // namespace lowtide::command
