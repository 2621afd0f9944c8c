#include "signals.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <initializer_list>
#include <string_view>

#include "command_session.h"
#include "outcome.h"
#include "progress_line.h"

namespace lowtide::command {
namespace {

std::atomic<int> keeping{0};
std::atomic<bool> interrupted{false};
std::atomic<const char*> own_file{nullptr}, own_folder{nullptr};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<const char*>::is_always_lock_free);

}  // namespace

void remove_files_in_hand() noexcept {
  if (const Session* const session = opened_session()) session->remove_unfinished_files();
  if (const char* const file = own_file.load()) ::unlink(file);
  if (const char* const folder = own_folder.load()) ::rmdir(folder);
}

namespace {

// Handlers write only with write(2): the interrupted code may hold a lock of stdio or malloc.
void say(std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    if (::write(STDERR_FILENO, word.data(), word.size()) < 0) return;
  }
}

void on_end(int) {
  remove_files_in_hand();
  leave_progress_line();
  say({"lowtide: interrupted\n"});
  ::_exit(kInterrupted);
}

// On the first signal a search ends with the best plan found so far.
void on_interrupt(int signal) {
  if (keeping.load() == 0 || interrupted.exchange(true)) on_end(signal);
  if (const Session* const session = opened_session()) session->cancel();
}

// A failed assertion has printed its message; the exit code is that of an internal error.
void on_abort(int) {
  remove_files_in_hand();
  ::_exit(static_cast<int>(ErrorKind::kInternal));
}

// A page of a mapped file can't be read: the file shrank, or its disk failed.
void on_bus_error(int signal, siginfo_t* what, void*) {
  remove_files_in_hand();
  const Session* const session = opened_session();
  if (const char* file = session ? session->file_mapped_at(what->si_addr) : nullptr) {
    say({"lowtide: ", file, ": its bytes can't be read any more: it became shorter while it was in use\n"});
    ::_exit(static_cast<int>(ErrorKind::kInput));
  }
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

// A crash still dumps core; only unfinished files are removed.
void on_crash(int signal) {
  remove_files_in_hand();
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

/// Signals that the process was started to ignore (nohup, a background job) stay ignored, and a sanitizer keeps its
/// handlers.
void on(std::initializer_list<int> signals, void (*handler)(int)) {
  for (const int signal : signals) {
    struct sigaction before{}, now{};
    const bool known = ::sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_DFL;
    // Shells start what a script sends to the background with SIGINT ignored; `kill` must still work.
    if (known && !(signal == SIGINT && before.sa_handler == SIG_IGN)) continue;
    now.sa_handler = handler;
    now.sa_flags = SA_RESTART | SA_ONSTACK;
    ::sigemptyset(&now.sa_mask);
    ::sigaction(signal, &now, nullptr);
  }
}

/// After a stack overflow, a handler needs another stack.
void make_room_for_handlers() {
  alignas(16) static char room[1 << 16];
  const stack_t stack{.ss_sp = room, .ss_flags = 0, .ss_size = sizeof room};
  stack_t before{};
  if (::sigaltstack(nullptr, &before) == 0 && (before.ss_flags & SS_DISABLE) != 0) ::sigaltstack(&stack, nullptr);
}

}  // namespace

KeepResults::KeepResults() { ++keeping; }
KeepResults::~KeepResults() { --keeping; }
bool was_interrupted() noexcept { return interrupted.load(); }

void remove_with_signal(const char* file, const char* folder) noexcept {
  own_file = file;
  own_folder = folder;
}

void handle_signals() {
  make_room_for_handlers();
  ::signal(SIGPIPE, SIG_IGN);  // a closed pipe is no error
  ::signal(SIGXFSZ, SIG_IGN);  // write(2) reports a file that may not grow
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

}  // namespace lowtide::command
