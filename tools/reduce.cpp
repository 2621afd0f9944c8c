/// lowtide reduce INPUT [-- CMD...]: the smallest program that still fails.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "command_session.h"
#include "commands.h"
#include "option_values.h"
#include "output.h"
#include "signals.h"
#include "usage.h"

namespace lowtide::command {
namespace {

struct ReduceOptions {
  std::string input, output = "-";
  uint64_t seed = 0;
  int64_t tries = 5000;
  unsigned seconds = 60;  ///< for the original program; smaller ones get at most ten times the time it took
  std::vector<std::string> command;
};

/// How a program fails without a command: the exit code of the process that tries it, or its signal.
constexpr int kAgrees = 0, kSignal = 128;

int outcome_of(pid_t child) {
  int how = 0;
  while (::waitpid(child, &how, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(how) ? WEXITSTATUS(how) : kSignal + WTERMSIG(how);
}

/// Compares compiled with interpreted results in a separate process, which may crash.
int try_apart(const Module& module, const ReduceOptions& options) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(null, STDERR_FILENO);
    ::alarm(options.seconds);
    // The child lacks the threads of the parent's session.
    const auto session = open_session_apart();
    const Outcome checked = session.ok() ? session->check(module, options.seed) : Outcome(session.error());
    ::_exit(checked.ok() ? kAgrees : static_cast<int>(checked.error().kind));
  }
  return child < 0 ? kAgrees : outcome_of(child);
}

/// The command's exit code, with the program's file appended to its words or in place of {}.
int try_command(const Session& session, const Module& module, const ReduceOptions& options, const std::string& file) {
  if (!write_output(session, file, module.hlo()).ok()) return -1;
  std::vector<std::string> words = options.command;
  if (std::ranges::find(words, "{}") == words.end()) words.emplace_back("{}");
  std::ranges::replace(words, std::string("{}"), file);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(null, STDOUT_FILENO);
    ::dup2(null, STDERR_FILENO);
    ::alarm(options.seconds);  // kept across exec
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  return child < 0 ? -1 : outcome_of(child);
}

/// The program's file for a command, in a private folder of its own. Removed with this object, and by a signal.
class FileForCommand {
 public:
  FileForCommand() = default;
  FileForCommand(const FileForCommand&) = delete;
  FileForCommand& operator=(const FileForCommand&) = delete;
  ~FileForCommand() {
    if (folder_.empty()) return;
    remove_with_signal(nullptr, nullptr);
    ::unlink(path_.c_str());
    ::rmdir(folder_.c_str());
  }
  Outcome make() {
    std::string folder = fmt::format("{}/lowtide-{}", P_tmpdir, std::string(6, 'X'));
    if (::mkdtemp(folder.data()) == nullptr)
      return usage_error(fmt::format("can't make a folder in {}: {}", P_tmpdir, std::strerror(errno)));
    folder_ = std::move(folder);
    path_ = folder_ + "/program.hlo";
    remove_with_signal(path_.c_str(), folder_.c_str());
    return {};
  }
  const std::string& path() const { return path_; }

 private:
  std::string folder_, path_;
};

Outcome reduce(ReduceOptions options) {
  LT_DO(check_outputs({{"INPUT", options.input}}, {{"-o", options.output}}));
  LT_TRY(const Session session, open_session());
  LT_TRY(const Module input, session.read(options.input));
  const bool by_command = !options.command.empty();
  FileForCommand file;
  if (by_command) LT_DO(file.make());
  const auto outcome = [&](const Module& module) {
    return by_command ? try_command(session, module, options, file.path()) : try_apart(module, options);
  };
  const auto start = std::chrono::steady_clock::now();
  const int wanted = outcome(input);
  // A shrunk loop may never end.
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  options.seconds = std::min(options.seconds, 1 + static_cast<unsigned>(10 * took.count()));
  if (by_command && wanted != 0) {
    return usage_error(
        fmt::format("the command must end with exit code 0 for the program as it is, and ends with {}", wanted));
  }
  if (!by_command && wanted == kAgrees) {
    return usage_error("this program doesn't fail: compiled and interpreted, it gives the same results");
  }
  // On an interrupt, keeps the smallest program found so far.
  const KeepResults keeping;
  const auto fails = [&](const Module& module) { return outcome(module) == wanted; };
  LT_TRY(const Module smallest, session.shrink(input, fails, options.tries));
  LT_DO(write_output(session, options.output, smallest.hlo()));
  if (!was_interrupted()) return {};
  return Error{ErrorKind::kInterrupted, "interrupted; this is the smallest program found until then"};
}

}  // namespace

void add_reduce(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ReduceOptions>();
  CLI::App* command = app.add_subcommand(
      "reduce",
      "shrink a failing program as long as it fails: compiled it crashes or differs from the interpreter, or a "
      "command of yours says so");
  command->add_option("INPUT", options->input, "the program")->required();
  may_be_empty(command->add_option(
      "CMD", options->command,
      "behind --: a command that ends with exit code 0 while the program still fails; {} in it is the program's file, "
      "otherwise that is its last word"));
  command->add_option("-o", options->output, "where the smallest program goes")->capture_default_str();
  command->add_option("--seed", options->seed, "the seed of the arguments")->capture_default_str();
  command->add_option("--tries", options->tries, "the largest number of programs tried")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--seconds", options->seconds, "time for the program as given")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->callback([options, &exit_code] { exit_code = finish(reduce(*options)); });
}

}  // namespace lowtide::command
