#include "progress_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

#include "base/files.h"
#include "command_context.h"

namespace lowtide::engine {
namespace {

using Seconds = std::chrono::duration<double>;
constexpr double kAgainPart = 0.125;  ///< of the time before it is drawn first: that between two drawings
constexpr double kSoonest = 0.01, kLatest = 0.25;
constexpr size_t kNarrowest = 20, kUsualWidth = 80;

std::atomic<bool> drawn{false};
pid_t drawer = 0;  ///< children that were forked draw nothing
std::mutex screen;
size_t drawn_width = 0;
bool plain = false;

size_t columns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < kNarrowest) return kUsualWidth;
  return size.ws_col;
}

void erase_locked() {
  if (!drawn.exchange(false)) return;
  (void)write_all(STDERR_FILENO, plain ? "\r" + std::string(drawn_width, ' ') + "\r" : "\r\x1b[K");
}

void draw() {
  const ProgressNow now = command_context()->progress().now();
  const std::lock_guard<std::mutex> lock(screen);
  if (now.name == nullptr) return erase_locked();
  const std::string text = to_string(now).substr(0, columns() - 1);
  std::string line = "\r" + text;
  if (plain) {
    line += std::string(drawn_width > text.size() ? drawn_width - text.size() : 0, ' ');
  } else {
    const size_t colon = std::min(text.find(':'), text.size());
    line = "\r\x1b[36m" + text.substr(0, colon) + "\x1b[0m" + text.substr(colon) + "\x1b[K";
  }
  drawn_width = text.size();
  drawn = true;
  (void)write_all(STDERR_FILENO, line);
}

bool is_plain() {
  const char* const none = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  return (none != nullptr && *none != 0) || terminal == nullptr || std::string_view(terminal) == "dumb";
}

}  // namespace

void erase_progress_line() {
  if (drawer != ::getpid()) return;
  const std::lock_guard<std::mutex> lock(screen);
  erase_locked();
}

Status print_stdout(std::string_view text) {
  erase_progress_line();
  return write_stdout(text);
}

Status write_output(const std::string& path, std::string_view content) {
  erase_progress_line();
  return write_file(path, content);
}

struct ProgressLine::State {
  std::mutex mutex;
  std::condition_variable end;
  bool ended = false;
  std::thread thread;

  void work() {
    std::unique_lock<std::mutex> lock(mutex);
    const double after = progress_after();
    const Seconds again(std::clamp(after * kAgainPart, kSoonest, kLatest));
    if (end.wait_for(lock, Seconds(after), [&] { return ended; })) return;
    do draw();
    while (!end.wait_for(lock, again, [&] { return ended; }));
  }
};

ProgressLine::ProgressLine() {
  if (::isatty(STDERR_FILENO) == 0) return;
  plain = is_plain();
  drawer = ::getpid();
  state_ = std::make_unique<State>();
  try {
    state_->thread = std::thread([state = state_.get()] { state->work(); });
    command_context()->progress().set_watched(true);
  } catch (const std::system_error&) {
    state_.reset();  // work matters more
  }
}

ProgressLine::~ProgressLine() {
  if (!state_) return;
  {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    state_->ended = true;
  }
  state_->end.notify_all();
  state_->thread.join();
  command_context()->progress().set_watched(false);
  erase_progress_line();
}

void leave_progress_line() noexcept {
  if (drawn.exchange(false)) static_cast<void>(::write(STDERR_FILENO, "\n", 1) < 0);
}

}  // namespace lowtide::engine
