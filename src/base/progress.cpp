#include "base/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "base/sizes.h"

namespace lowtide::engine {
namespace {

/// Smaller shares don't allow an estimate of the remaining time.
constexpr double kLeastShare = 0.02;
constexpr double kMostCounted = 100'000;  ///< larger totals are bytes or visits, which aren't shown

std::string time_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", std::max(1.0, seconds));
  if (seconds < 90 * 60) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

Stage::Stage(Progress& progress, const char* stage, double total) : progress_(progress) {
  const auto self = std::this_thread::get_id();
  if (progress_.name_.load() == nullptr) progress_.teller_ = self;
  if (progress_.teller_.load() != self) return;
  outer_ = {progress_.name_.load(), progress_.amount_.load(), progress_.whole_.load(), progress_.began_.load()};
  progress_.amount_ = 0;
  progress_.whole_ = total;
  progress_.began_ = now_ns();
  progress_.name_ = stage;
}

Stage::~Stage() {
  if (!outer_) return;
  progress_.amount_ = outer_->done;
  progress_.whole_ = outer_->total;
  progress_.began_ = outer_->began;
  progress_.name_ = outer_->name;
}

void Stage::done(double so_far) {
  if (outer_) progress_.amount_.store(so_far, std::memory_order_relaxed);
}

void Stage::add(double more) {
  if (outer_) progress_.add(more);
}

ProgressNow Progress::now() const {
  return {name_.load(), amount_.load(), whole_.load(), 1e-9 * static_cast<double>(now_ns() - began_.load()),
          best_.load()};
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

}  // namespace lowtide::engine
