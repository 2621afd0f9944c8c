#include "progress_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>

#include "output.h"

namespace lowtide::command {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kUsuallyAfter = 2, kLongestUnseen = 1e6;  ///< seconds
constexpr double kAgainPart = 0.125;  ///< the time between two drawings, as a share of the time before the first
constexpr double kSoonest = 0.01, kLatest = 0.25;
constexpr size_t kNarrowest = 20, kUsualWidth = 80;

std::atomic<bool> drawn{false};
pid_t drawer = 0;  ///< forked children draw nothing
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

void draw(const Progress& progress) {
  const std::lock_guard<std::mutex> lock(screen);
  if (*progress.stage == 0) return erase_locked();
  const std::string text = progress.text().substr(0, columns() - 1);
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

void draw_progress(Options& options) {
  if (::isatty(STDERR_FILENO) == 0) return;
  plain = is_plain();
  drawer = ::getpid();
  const char* const said = std::getenv("LOWTIDE_PROGRESS");
  const double after = said == nullptr ? kUsuallyAfter : std::clamp(std::atof(said), 0.0, kLongestUnseen);
  const auto begin = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(after));
  options.progress_interval = std::clamp(after * kAgainPart, kSoonest, kLatest);
  options.progress = [begin](const Progress& progress) {
    if (Clock::now() >= begin) draw(progress);
  };
}

void erase_progress_line() {
  if (drawer != ::getpid()) return;
  const std::lock_guard<std::mutex> lock(screen);
  erase_locked();
}

void leave_progress_line() noexcept {
  if (drawn.exchange(false)) static_cast<void>(::write(STDERR_FILENO, "\n", 1) < 0);
}

}  // namespace lowtide::command
