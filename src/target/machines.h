#pragma once
/// Machines with known facts, and others that a user describes.

#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "target/machine.h"

namespace lowtide::engine {

/// The first is the default.
std::span<const Machine> machines();

/// Empty: the first. Else one of machines() by its name, or the text of a JSON object: "base", the name of the one from
/// which unstated facts are taken, and members of Machine by their names, numbers from 0 on. An error of kind kUsage
/// says what was expected.
Result<Machine> read_machine(std::string_view text);

/// The same text in one line. It must be one that read_machine() takes.
std::string machine_line(std::string_view text);

}  // namespace lowtide::engine
