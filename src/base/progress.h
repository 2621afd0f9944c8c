#pragma once
/// How far the work is, for whoever waits. Work says it, whoever waits looks; nothing here decides anything, and no
/// result depends on it.

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>

namespace lowtide::engine {

struct ProgressNow {
  const char* name = nullptr;  ///< null: nothing
  double done = 0, total = 0;
  double seconds = 0;  ///< since the stage began
  int64_t best_peak = -1;
};

/// "searching for plans: 42 %, 5 of 12, about 12 s left, lowest peak 64.4 GiB"
std::string to_string(const ProgressNow& now);

/// One of a context. All of it may be asked and told from any thread.
class Progress {
 public:
  ProgressNow now() const;
  /// More of the stage that stands, whoever made it; an amount of one is a step of it.
  void add(double amount) { amount_.fetch_add(amount, std::memory_order_relaxed); }
  /// What is known of the result so far: the lowest peak.
  void note_best_peak(int64_t bytes) { best_.store(bytes, std::memory_order_relaxed); }
  /// Does anybody look? What only serves to be shown need not be made otherwise.
  bool is_watched() const { return watched_.load(std::memory_order_relaxed); }
  void set_watched(bool watched) { watched_ = watched; }

 private:
  friend class Stage;
  friend class OutermostStage;
  // Words of their own, so that nobody who works ever waits: a reader may see one stage's name with another's count for
  // a moment.
  std::atomic<const char*> name_{nullptr};
  std::atomic<double> amount_{0}, whole_{0};
  std::atomic<int64_t> began_{0}, best_{-1};
  std::atomic<std::thread::id> teller_{};  ///< who began the outermost stage
  std::atomic<bool> watched_{false};
};

/// A part of the work, from its beginning to its end. Within another it takes that one's place for its time. Those of
/// threads other than the one that began the outermost say nothing.
class Stage {
 public:
  /// name: a literal, "searching for plans". total: of what done() counts; 0: unknown.
  Stage(Progress& progress, const char* name, double total);
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  /// So much of it in all. From any thread.
  void done(double amount);
  void add(double amount);

 private:
  struct Saved {
    const char* name;
    double done, total;
    int64_t began;
  };
  Progress& progress_;
  std::optional<Saved> outer_;  ///< none: this stage says nothing
};

/// A stage unless one stands already: for what is a part of many things.
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
