/// The lowtide command: options and exit codes. Each subcommand is a file of its own.

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <system_error>

#include "answer.h"
#include "commands.h"
#include "option_values.h"
#include "output.h"
#include "progress_line.h"
#include "signals.h"
#include "usage.h"

namespace lowtide::command {

int finish(const Outcome& outcome, bool json) {
  if (json && !outcome.ok() && !is_answered()) (void)print_stdout(fault_json(outcome.error()));
  erase_progress_line();
  if (outcome.ok()) return 0;
  std::fprintf(stderr, "lowtide: %s\n", outcome.error().message.c_str());
  return static_cast<int>(outcome.error().kind);
}

CLI::Option* add_exact(CLI::App& command, bool& exact) {
  return command.add_flag(
      "--exact", exact,
      "use only rewrites that keep the order of every sum: all limits and plans give the same bits (docs/fit.md)");
}

CLI::Option* add_machine(CLI::App& command, std::string& machine) {
  std::string names;
  for (const std::string& name : machine_names()) names += name + ", ";
  return command.add_option(
      "--machine", machine,
      "the machine whose costs choose the plans: " + names + "or a JSON file of facts (docs/fit.md)");
}

bool terminal_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == 0) continue;
    std::string locale(value);
    for (char& c : locale) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return true;
}

namespace {

constexpr const char* kExitCodes =
    "Exit codes: 0 ok | 1 internal | 2 usage | 3 input | 4 limit or gate not met | 5 wrong values |\n"
    "6 unsupported operation | 130 interrupted\n"
    "INPUT: HLO text, StableHLO text (.mlir) or bytecode (.mlirbc, jax.export), .hlo.pb, any of them gzipped, an XLA "
    "dump\n"
    "directory, or - for stdin.\n"
    "SIZE: 8GiB, 8G (= GiB), 8GB (10^9), or bytes.";

// Opens closed standard files (0, 1, 2); otherwise another file would get that number, and be read or written instead.
void keep_standard_files_open() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(file, F_GETFD) < 0) (void)::open("/dev/null", O_RDWR);
  }
}

// Memory can run out where there is no handler: in a separate thread, in a destructor, in a library without exceptions.
[[noreturn]] void on_terminate() {
  remove_files_in_hand();
  int code = static_cast<int>(ErrorKind::kInternal);
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
    std::fprintf(stderr, "lowtide: internal error: ended without an exception\n");
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "lowtide: out of memory\n");
    code = static_cast<int>(ErrorKind::kLimit);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "lowtide: internal error: %s\n", e.what());
  } catch (...) {
    std::fprintf(stderr, "lowtide: internal error: an exception of no known kind\n");
  }
  ::_exit(code);
}

bool wants_json(int argc, char** argv) {
  return std::find(argv + 1, argv + argc, std::string_view("--json")) != argv + argc;
}

int run(int argc, char** argv) {
  keep_standard_files_open();
  handle_signals();
  std::set_terminate(on_terminate);

  int exit_code = 0;
  CLI::App app("What holds memory in an array program, why, and what would free it.", "lowtide");
  app.set_version_flag("--version", "lowtide " LOWTIDE_VERSION);
  app.footer(kExitCodes);
  app.require_subcommand(1);
  constexpr std::array kCommands = {add_explain, add_fit,  add_run,    add_diff,  add_check,
                                    add_opt,     add_plan, add_passes, add_reduce};
  for (const auto add : kCommands) add(app, exit_code);
  check_values(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForVersion& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    const int code = finish(usage_error(usage_fault(app, e)), wants_json(argc, argv));
    std::fprintf(stderr, "Run with --help for more information.\n");
    return code;
  } catch (const std::bad_alloc&) {
    return finish(Error{ErrorKind::kLimit, "out of memory"}, wants_json(argc, argv));
  } catch (const std::system_error& e) {
    if (e.code() == std::errc::resource_unavailable_try_again)
      return finish(Error{ErrorKind::kLimit, "the system has no thread left for this process"}, wants_json(argc, argv));
    std::fprintf(stderr, "lowtide: internal error: %s\n", e.what());
    return static_cast<int>(ErrorKind::kInternal);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "lowtide: internal error: %s\n", e.what());
    return static_cast<int>(ErrorKind::kInternal);
  }
  return exit_code;
}

}  // namespace
}  // namespace lowtide::command

int main(int argc, char** argv) { return lowtide::command::run(argc, argv); }
