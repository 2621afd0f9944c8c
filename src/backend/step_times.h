#pragma once
/// The time that a run spends on each step, on request: a backend that can measure it adds to this while it runs.

#include <chrono>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/thread_pool.h"
#include "schedule/program.h"

namespace lowtide::engine {

/// All runs of one step together.
struct StepTime {
  int64_t runs = 0;
  double seconds = 0, inside = 0;  ///< from start to end, and the part of it in steps of its blocks
  double waiting = 0;              ///< summed over all threads
};

/// One run of one step.
struct StepSpan {
  const ProgramStep* step = nullptr;
  double start = 0, seconds = 0;  ///< from the beginning of the run
};

class StepTimes {
 public:
  /// most_spans: how many runs of steps are recorded one by one.
  StepTimes(ThreadPool& pool, size_t most_spans) : pool_(pool), most_spans_(most_spans) { pool_.count_use(true); }
  ~StepTimes() { pool_.count_use(false); }
  StepTimes(const StepTimes&) = delete;
  StepTimes& operator=(const StepTimes&) = delete;

  /// Begins another run, and drops the spans of the last one.
  void begin_run();
  /// Runs a step that f executes.
  template <class F>
  auto time(const ProgramStep& step, F&& f) {
    const Moment outer_inside = enter();
    const Moment begin = now();
    auto done = f();
    leave(step, begin, outer_inside);
    return done;
  }

  const std::unordered_map<const ProgramStep*, StepTime>& by_step() const { return by_step_; }
  const std::vector<StepSpan>& spans() const { return spans_; }

 private:
  struct Moment {
    double seconds = 0, waiting = 0;
  };
  Moment now() const;
  Moment enter();
  void leave(const ProgramStep& step, const Moment& begin, const Moment& outer_inside);

  ThreadPool& pool_;
  size_t most_spans_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  Moment inside_;  ///< of the steps that the innermost step under way has run so far
  std::unordered_map<const ProgramStep*, StepTime> by_step_;
  std::vector<StepSpan> spans_;
};

}  // namespace lowtide::engine
