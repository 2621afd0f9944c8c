#pragma once
/// What a command says on stdout with --json: one object, also where it refuses.

#include <string>

#include "base/status.h"

namespace lowtide::engine {

/// Writes a report's JSON; where the verdict is a fault, with `error`, `exit_code` and `place` behind the rest.
Status write_json(std::string json, const Status& verdict = {});

/// Has write_json() been called?
bool is_answered();

/// The object of a fault alone.
std::string fault_json(const Status& fault);

}  // namespace lowtide::engine
