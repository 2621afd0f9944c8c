#pragma once
/// The progress of work, for display. Work reports it and displays read it; no decision or result depends on it.

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>

namespace lowtide::engine {

struct ProgressNow {
  const char* name = nullptr;  ///< null: no stage
  double done = 0, total = 0;
  double seconds = 0;  ///< since the stage began
  int64_t best_peak = -1;
};

/// "searching for plans: 42 %, 5 of 12, about 12 s left, lowest peak 64.4 GiB"
std::string to_string(const ProgressNow& now);

/// One per context. All functions may be called from any thread.
class Progress {
 public:
  ProgressNow now() const;
  /// Adds to the current stage, whichever thread began it; an amount of one is one step.
  void add(double amount) { amount_.fetch_add(amount, std::memory_order_relaxed); }
  /// Notes the best result so far, the lowest peak.
  void note_best_peak(int64_t bytes) { best_.store(bytes, std::memory_order_relaxed); }
  /// Is progress displayed? Otherwise results that only serve display needn't be computed.
  bool is_watched() const { return watched_.load(std::memory_order_relaxed); }
  void set_watched(bool watched) { watched_ = watched; }

 private:
  friend class Stage;
  friend class OutermostStage;
  // Separate atomics, so that workers never wait: a reader may briefly see one stage's name with another's count.
  std::atomic<const char*> name_{nullptr};
  std::atomic<double> amount_{0}, whole_{0};
  std::atomic<int64_t> began_{0}, best_{-1};
  std::atomic<std::thread::id> teller_{};  ///< the thread that began the outermost stage
  std::atomic<bool> watched_{false};
};

/// A part of the work, for its scope. A nested stage replaces the outer one until it ends. Stages of threads other than
/// the one that began the outermost are ignored.
class Stage {
 public:
  /// name: a literal, "searching for plans". total: the final value of done(); 0: unknown.
  Stage(Progress& progress, const char* name, double total);
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  /// Sets, or adds to, the amount done so far. From any thread.
  void done(double amount);
  void add(double amount);

 private:
  struct Saved {
    const char* name;
    double done, total;
    int64_t began;
  };
  Progress& progress_;
  std::optional<Saved> outer_;  ///< none: this stage is ignored
};

/// A stage unless there is one already: for work that is a part of many stages.
class OutermostStage {
 public:
  OutermostStage(Progress& progress, const char* name, double total) {
    if (progress.name_.load() == nullptr) stage_.emplace(progress, name, total);
  }
  void add(double amount) {
    if (stage_) stage_->add(amount);
  }

 private:
  std::optional<Stage> stage_;
};

}  // namespace lowtide::engine
