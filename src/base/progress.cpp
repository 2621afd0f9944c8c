#include "base/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

#include "base/sizes.h"

namespace lowtide {
namespace {

/// Words of their own, so that nobody who works ever waits: a reader may see one stage's name with another's count for
/// a moment.
std::atomic<const char*> name{nullptr};
std::atomic<double> amount{0}, whole{0};
std::atomic<int64_t> began{0}, best{-1};
std::atomic<void (*)()> eraser{nullptr};
const std::thread::id first_thread = std::this_thread::get_id();

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Shares below this say nothing about the time that is left.
constexpr double kLeastShare = 0.02;
constexpr double kMostCounted = 100'000;  ///< larger totals are bytes or visits, which say nothing

std::string time_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", std::max(1.0, seconds));
  if (seconds < 90 * 60) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

Stage::Stage(const char* stage, double total) {
  if (std::this_thread::get_id() != first_thread) return;
  outer_ = {name.load(), amount.load(), whole.load(), began.load()};
  amount = 0;
  whole = total;
  began = now_ns();
  name = stage;
}

Stage::~Stage() {
  if (!outer_) return;
  amount = outer_->done;
  whole = outer_->total;
  began = outer_->began;
  name = outer_->name;
}

void Stage::done(double so_far) {
  if (outer_) amount.store(so_far, std::memory_order_relaxed);
}

void Stage::add(double more) {
  if (outer_) amount.fetch_add(more, std::memory_order_relaxed);
}

OutermostStage::OutermostStage(const char* stage, double total) {
  if (name.load() == nullptr) stage_.emplace(stage, total);
}

void add_progress(double more) { amount.fetch_add(more, std::memory_order_relaxed); }

bool is_progress_drawn() { return eraser.load(std::memory_order_relaxed) != nullptr; }

void note_best_peak(int64_t bytes) { best.store(bytes, std::memory_order_relaxed); }

ProgressNow progress_now() {
  return {name.load(), amount.load(), whole.load(), 1e-9 * static_cast<double>(now_ns() - began.load()), best.load()};
}

std::string to_string(const ProgressNow& now) {
  std::string text = now.name;
  const double share = now.total > 0 ? std::clamp(now.done / now.total, 0.0, 1.0) : 0;
  if (now.total > 0) text += fmt::format(": {:.0f} %", std::floor(100 * share));
  if (now.total > 1 && now.total <= kMostCounted && now.total == std::floor(now.total)) {
    text += fmt::format(", {:.0f} of {:.0f}", std::min(std::floor(now.done), now.total), now.total);
  }
  if (share >= kLeastShare) {
    text += fmt::format(", about {} left", time_text(now.seconds * (1 - share) / share));
  } else {
    text += fmt::format(", for {}", time_text(now.seconds));
  }
  if (now.best_peak >= 0) text += ", lowest peak " + format_bytes(now.best_peak);
  return text;
}

void set_progress_eraser(void (*erase)()) { eraser = erase; }

void erase_progress() {
  if (auto* const erase = eraser.load()) erase();
}

}  // namespace lowtide
