#pragma once
/// How far the work is, for whoever waits. Work says it, one thread draws it (tools/progress_line.h); nothing here
/// decides anything, and no result depends on it.

#include <cstdint>
#include <optional>
#include <string>

namespace lowtide {

/// A part of the work, from its beginning to its end. Within another it takes that one's place for its time. Those of
/// threads other than the first say nothing.
class Stage {
 public:
  /// name: a literal, "searching for plans". total: of what done() counts; 0: nobody knows.
  Stage(const char* name, double total);
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
  std::optional<Saved> outer_;  ///< none: this stage says nothing
};

/// A stage unless one stands already: for what is a part of many things.
class OutermostStage {
 public:
  OutermostStage(const char* name, double total);
  void add(double amount) {
    if (stage_) stage_->add(amount);
  }

 private:
  std::optional<Stage> stage_;
};

/// More of the stage that stands, whoever made it; an amount of one is a step of it.
void add_progress(double amount);
/// Does anybody look? What only serves to be shown need not be made otherwise.
bool is_progress_drawn();

/// What is known of the result so far: the lowest peak.
void note_best_peak(int64_t bytes);

struct ProgressNow {
  const char* name = nullptr;  ///< null: nothing
  double done = 0, total = 0;
  double seconds = 0;  ///< since the stage began
  int64_t best_peak = -1;
};
ProgressNow progress_now();

/// "searching for plans: 42 %, 5 of 12, about 12 s left, lowest peak 64.4 GiB"
std::string to_string(const ProgressNow& now);

/// Whoever draws says how to take it off the screen; others call that before they write to a terminal.
void set_progress_eraser(void (*erase)());
void erase_progress();

}  // namespace lowtide
