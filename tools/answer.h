#pragma once
/// What a command says on stdout with --json: one object, also where it refuses.

#include <string>

#include "outcome.h"

namespace lowtide::command {

/// Writes a report's JSON; where the verdict is a fault, with `error`, `exit_code` and `place` behind the rest.
Outcome write_json(std::string json, const Outcome& verdict = {});

/// Has write_json() been called?
bool is_answered();

/// The object of a fault alone.
std::string fault_json(const Error& fault);

}  // namespace lowtide::command
