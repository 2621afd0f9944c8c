#pragma once
/// The subcommands, one file each. add_x() registers the subcommand with its options; its callback sets `exit_code`.

#include <CLI/App.hpp>
#include <string>

#include "outcome.h"

namespace lowtide::command {

/// --exact, for explain, fit and run.
CLI::Option* add_exact(CLI::App& command, bool& exact);
/// --machine, for the same.
CLI::Option* add_machine(CLI::App& command, std::string& machine);

void add_explain(CLI::App& app, int& exit_code);
void add_fit(CLI::App& app, int& exit_code);
void add_diff(CLI::App& app, int& exit_code);
void add_check(CLI::App& app, int& exit_code);
void add_opt(CLI::App& app, int& exit_code);
void add_run(CLI::App& app, int& exit_code);
void add_passes(CLI::App& app, int& exit_code);
void add_plan(CLI::App& app, int& exit_code);
void add_reduce(CLI::App& app, int& exit_code);

/// Prints the error to stderr, if there is one; with --json also to stdout, if nothing was printed there yet. Returns
/// the exit code: the error's number.
int finish(const Outcome& outcome, bool json = false);

/// Whether the terminal shows UTF-8: from LC_ALL, LC_CTYPE, LANG in that order; yes if none is set.
bool terminal_is_utf8();

}  // namespace lowtide::command
