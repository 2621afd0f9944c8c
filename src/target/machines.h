#pragma once
/// The machines whose facts are known, and others that a user describes.

#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "target/machine.h"

namespace lowtide::engine {

/// The first is what is planned for where nobody says anything.
std::span<const Machine> machines();

/// Empty: the first. Else one of machines() by its name, or what stands in the text of a JSON object: "base", the name
/// of one of them, of which facts are taken that aren't said; and members of Machine by their names, numbers from 0 on.
/// A fault of kind kUsage says what was expected.
Result<Machine> read_machine(std::string_view text);

/// The same text in one line. It must be one that read_machine() takes.
std::string machine_line(std::string_view text);

}  // namespace lowtide::engine
