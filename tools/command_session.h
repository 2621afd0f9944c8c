#pragma once
/// The session in which the command does all its work, with the environment's options.

#include <optional>
#include <string>

#include "lowtide/session.h"

namespace lowtide::command {

/// Options from the environment; its progress is drawn, and its warnings are printed.
/// machine: Options::machine, or a file that holds the JSON object.
Result<Session> open_session(bool exact = false, std::optional<int64_t> limit = {}, const std::string& machine = {});
/// The same without progress: for a child process.
Result<Session> open_session_apart();

/// The open session, for signal handlers; null if there is none yet.
const Session* opened_session() noexcept;

}  // namespace lowtide::command
