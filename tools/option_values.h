#pragma once
/// Requirements on every option's value: a gate with an empty value, or without a number, fails closed.

#include <CLI/App.hpp>
#include <CLI/Option.hpp>

namespace lowtide::command {

/// An empty text is a valid value of this option.
void may_be_empty(CLI::Option* option);

/// For all options of all subcommands added so far: an empty value, or a number that isn't finite or is below zero, is
/// a usage error that names the option. (A shell's unset variable in `--expect "$file"` would otherwise switch the
/// comparison off, and no growth is above NaN.)
void check_values(CLI::App& app);

}  // namespace lowtide::command
