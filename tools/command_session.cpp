#include "command_session.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "output.h"
#include "progress_line.h"

namespace lowtide::command {
namespace {

std::atomic<const Session*> opened{nullptr};

Options from_environment() {
  return options_from_environment([](const char* name) -> const char* { return std::getenv(name); });
}

/// The content of a file with this name, if there is one, else the text itself.
Result<std::string> machine_text(const std::string& machine) {
  std::error_code none;
  if (machine.empty() || !std::filesystem::is_regular_file(machine, none)) return machine;
  std::ifstream file(machine, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file) return Error{ErrorKind::kInput, machine + ": can't be read"};
  return text;
}

void print_line(std::string_view line) {
  erase_progress_line();
  (void)write_all(STDERR_FILENO, std::string(line) + "\n");
}

}  // namespace

Result<Session> open_session(bool exact, std::optional<int64_t> limit, const std::string& machine) {
  Options options = from_environment();
  LT_TRY(options.machine, machine_text(machine));
  options.exact = exact;
  options.limit = limit;
  options.warn = print_line;
  draw_progress(options);
  LT_TRY(const Session session, Session::open(std::move(options)));
  opened = new Session(session);  // handlers may use it until the process has ended
  return session;
}

Result<Session> open_session_apart() { return Session::open(from_environment()); }

const Session* opened_session() noexcept { return opened.load(); }

}  // namespace lowtide::command
