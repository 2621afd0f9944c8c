#include "signals.h"

#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <initializer_list>
#include <string_view>

#include "base/files.h"
#include "base/mapped_files.h"
#include "base/status.h"
#include "command_context.h"
#include "commands.h"
#include "progress_line.h"

namespace lowtide::engine {
namespace {

// Handlers write with write(2) alone: a lock of stdio's or malloc's may be held by what they interrupt.
void say(std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    if (::write(STDERR_FILENO, word.data(), word.size()) < 0) return;
  }
}

void on_end(int) {
  remove_unfinished_files();
  leave_progress_line();
  say({"lowtide: interrupted\n"});
  ::_exit(kInterrupted);
}

// A search keeps the best that it found, where it is asked kindly.
void on_interrupt(int signal) {
  if (!command_context()->stop().ask()) on_end(signal);
}

// A failed assertion has said its sentence; the exit code is that of a bug of ours.
void on_abort(int) {
  remove_unfinished_files();
  ::_exit(static_cast<int>(Fault::kInternal));
}

// A page of a mapped file whose bytes are gone: the file shrank, or its disk can't be read any more.
void on_bus_error(int signal, siginfo_t* what, void*) {
  remove_unfinished_files();
  if (const char* file = file_mapped_at(what->si_addr)) {
    say({"lowtide: ", file, ": its bytes can't be read any more: it became shorter while it was in use\n"});
    ::_exit(static_cast<int>(Fault::kInput));
  }
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

// A crash stays one, for whoever looks at the core; only its unfinished files go.
void on_crash(int signal) {
  remove_unfinished_files();
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

/// What the process was started to ignore (nohup, a job in the background) it goes on ignoring, and what a sanitizer
/// takes is its own.
void on(std::initializer_list<int> signals, void (*handler)(int)) {
  for (const int signal : signals) {
    struct sigaction before{}, now{};
    const bool known = ::sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_DFL;
    // Shells start what a script sends to the background with SIGINT ignored; whoever sends it by `kill` means it.
    if (known && !(signal == SIGINT && before.sa_handler == SIG_IGN)) continue;
    now.sa_handler = handler;
    now.sa_flags = SA_RESTART | SA_ONSTACK;
    ::sigemptyset(&now.sa_mask);
    ::sigaction(signal, &now, nullptr);
  }
}

/// Where the stack ends, a handler needs another one.
void make_room_for_handlers() {
  alignas(16) static char room[1 << 16];
  const stack_t stack{.ss_sp = room, .ss_flags = 0, .ss_size = sizeof room};
  stack_t before{};
  if (::sigaltstack(nullptr, &before) == 0 && (before.ss_flags & SS_DISABLE) != 0) ::sigaltstack(&stack, nullptr);
}

}  // namespace

void handle_signals() {
  (void)command_context();  // a handler makes nothing
  make_room_for_handlers();
  ::signal(SIGPIPE, SIG_IGN);  // a reader that has gone away is no fault
  ::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is one that write(2) reports
  on({SIGINT, SIGTERM}, on_interrupt);
  on({SIGHUP, SIGQUIT, SIGXCPU}, on_end);
  on({SIGABRT}, on_abort);
  on({SIGSEGV, SIGFPE, SIGILL}, on_crash);
  struct sigaction bus{};
  bus.sa_sigaction = on_bus_error;
  bus.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&bus.sa_mask);
  ::sigaction(SIGBUS, &bus, nullptr);
}

}  // namespace lowtide::engine
