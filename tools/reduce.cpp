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
#include <optional>
#include <string>
#include <vector>

#include "backend/cpu/cpu_backend.h"
#include "base/files.h"
#include "command_context.h"
#include "commands.h"
#include "compile/compile.h"
#include "compile/load.h"
#include "interp/compare.h"
#include "interp/interpreter.h"
#include "option_values.h"
#include "passes/shrink.h"
#include "progress_line.h"
#include "runtime/value_memory.h"
#include "target/cpu.h"
#include "text/hlo.h"
#include "text/input.h"
#include "usage.h"

namespace lowtide::engine {
namespace {

struct ReduceOptions {
  std::string input, output = "-";
  uint64_t seed = 0;
  int64_t tries = 5000;
  unsigned seconds = 60;  ///< for the program as it is; smaller ones get no more than ten times what that took
  std::vector<std::string> command;
};

/// How a program fails without a command: the exit code of the process that tries it, or its signal.
constexpr int kAgrees = 0, kDiffers = 5, kSignal = 128;

/// Compiled against interpreted, in this process.
int try_here(const Module& module, uint64_t seed) {
  const std::vector<Value> arguments = seeded_arguments(module, seed);
  const auto expected = interpret(module, arguments);
  if (!expected.ok()) return kAgrees;  // nothing to compare with
  const auto code_of = [](const Status& status) {
    return status.fault() == Fault::kUnsupported ? kAgrees : static_cast<int>(status.fault());
  };
  const auto compiled = compile_plan(module, cpu_target());
  if (!compiled.ok()) return code_of(compiled.status());
  const auto loaded = load_program(*compiled, cpu_backend());
  if (!loaded.ok()) return code_of(loaded.status());
  const ValueMemory memory(*compiled->program, arguments);
  if (const Status status = (*loaded)->run(memory.memory(), module.context().pool()); !status.ok())
    return code_of(status);
  const std::vector<Value> results = memory.results(**loaded);
  for (size_t i = 0; i < results.size(); ++i) {
    const Tolerance tolerance = usual_tolerance(results[i]->shape().type);
    if (!compare(*results[i], *(*expected)[i], tolerance, "out").agrees()) return kDiffers;
  }
  return kAgrees;
}

int outcome_of(pid_t child) {
  int how = 0;
  while (::waitpid(child, &how, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(how) ? WEXITSTATUS(how) : kSignal + WTERMSIG(how);
}

/// A crash of ours ends a process of its own.
int try_apart(const Module& module, const ReduceOptions& options) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(null, STDERR_FILENO);
    ::alarm(options.seconds);
    // Threads of the parent's context aren't here.
    const auto own = module.clone();
    own->set_context(std::make_shared<Context>(module.context().settings()));
    ::_exit(try_here(*own, options.seed));
  }
  return child < 0 ? kAgrees : outcome_of(child);
}

/// The command's exit code with the program's file behind its words, or in the place of {}.
int try_command(const Module& module, const ReduceOptions& options, const std::string& file) {
  if (!write_output(file, print_hlo(module)).ok()) return -1;
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

/// The program's file for a command, in a folder of its own that nobody else sees. Gone with this, and with a signal.
class FileForCommand {
 public:
  FileForCommand() = default;
  FileForCommand(const FileForCommand&) = delete;
  FileForCommand& operator=(const FileForCommand&) = delete;
  ~FileForCommand() {
    if (folder_.empty()) return;
    ::unlink(path_.c_str());
    ::rmdir(folder_.c_str());
  }
  Status make() {
    std::string folder = fmt::format("{}/lowtide-{}", P_tmpdir, std::string(6, 'X'));
    if (::mkdtemp(folder.data()) == nullptr)
      return Status::usage(fmt::format("can't make a folder in {}: {}", P_tmpdir, std::strerror(errno)));
    folder_ = std::move(folder);
    path_ = folder_ + "/program.hlo";
    unfinished_folder_.emplace(folder_);
    unfinished_file_.emplace(path_);
    return {};
  }
  const std::string& path() const { return path_; }

 private:
  std::string folder_, path_;
  std::optional<UnfinishedFile> unfinished_folder_, unfinished_file_;
};

Status reduce(ReduceOptions options) {
  LT_RETURN_IF_ERROR(check_outputs({{"INPUT", options.input}}, {{"-o", options.output}}));
  LT_ASSIGN_OR_RETURN(const Input input, read_input(options.input, InputStage::kLatest, command_context()));
  const bool by_command = !options.command.empty();
  FileForCommand file;
  if (by_command) LT_RETURN_IF_ERROR(file.make());
  const auto outcome = [&](const Module& module) {
    return by_command ? try_command(module, options, file.path()) : try_apart(module, options);
  };
  const auto start = std::chrono::steady_clock::now();
  const int wanted = outcome(*input.module);
  // A loop that was shrunk may never end.
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  options.seconds = std::min(options.seconds, 1 + static_cast<unsigned>(10 * took.count()));
  if (by_command && wanted != 0) {
    return Status::usage(
        fmt::format("the command must end with exit code 0 for the program as it is, and ends with {}", wanted));
  }
  if (!by_command && wanted == kAgrees) {
    return Status::usage("this program doesn't fail: compiled and interpreted, it gives the same results");
  }
  ShrinkOptions how;
  how.most_tries = options.tries;
  // What was found so far is kept where somebody loses patience.
  Context& context = *command_context();
  const KeepWhatIsFound keeping(context.stop());
  const Interruptible interruptible(context.stop());
  Stage stage(context.progress(), "shrinking", static_cast<double>(options.tries));
  const auto fails = [&](const Module& module) {
    if (context.should_stop()) return false;
    stage.add(1);
    return outcome(module) == wanted;
  };
  const auto smallest = shrink(*input.module, cpu_target(), fails, how);
  LT_RETURN_IF_ERROR(write_output(options.output, print_hlo(*smallest)));
  return context.stop().was_asked()
             ? Status(kInterruptedFault, "interrupted; this is the smallest program found until then")
             : Status();
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
  command->add_option("--seed", options->seed, "of the arguments")->capture_default_str();
  command->add_option("--tries", options->tries, "programs tried at most")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--seconds", options->seconds, "for the program as it is")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->callback([options, &exit_code] { exit_code = finish(reduce(*options)); });
}

}  // namespace lowtide::engine
