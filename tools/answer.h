#pragma once
/// The output of a command on stdout with --json: one object, also for errors.

#include <string>

#include "outcome.h"

namespace lowtide::command {

/// Writes a report's JSON; if the verdict is an error, with `error`, `exit_code` and `place` after the rest.
Outcome write_json(std::string json, const Outcome& verdict = {});

/// Has write_json() been called?
bool is_answered();

/// The object for an error alone.
std::string fault_json(const Error& fault);

}  // namespace lowtide::command
