#pragma once
/// Mistakes on the command line: what was meant, and files that would be lost.

#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <string>
#include <vector>

#include "outcome.h"

namespace lowtide::command {

/// What is wrong with a line that CLI11 turned down, with the commands or options that are near.
std::string usage_fault(const CLI::App& app, const CLI::ParseError& error);

/// One of these words; a near one is proposed.
CLI::Validator one_of(std::vector<std::string> words);

/// A file that the command line names, and as what.
struct NamedFile {
  std::string option;  ///< "INPUT", "--plan"
  std::string path;    ///< empty: not given
};

/// Refuses an output that is an input, or another output: by device and number of the file, so that links and other
/// spellings are seen. An input that is a folder is all
/// modules and reports that lie in it; `file#part` is the file.
Outcome check_outputs(const std::vector<NamedFile>& inputs, const std::vector<NamedFile>& outputs);

}  // namespace lowtide::command
