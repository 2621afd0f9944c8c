#include "backend/step_times.h"

#include <utility>

#include "base/clock.h"

namespace lowtide::engine {

void StepTimes::begin_run() {
  spans_.clear();
  inside_ = {};
  began_ = std::chrono::steady_clock::now();
}

/// `waiting` counts from an arbitrary moment; while no parallel work runs, all threads but the caller's wait.
StepTimes::Moment StepTimes::now() const {
  const double seconds = seconds_since(began_);
  const ThreadPool::Use use = pool_.use();
  const double alone = seconds - 1e-9 * static_cast<double>(use.joint);
  return {seconds, pool_.threads() * seconds - 1e-9 * static_cast<double>(use.busy) - alone};
}

StepTimes::Moment StepTimes::enter() { return std::exchange(inside_, {}); }

void StepTimes::leave(const ProgramStep& step, const Moment& begin, const Moment& outer_inside) {
  const Moment end = now();
  const double seconds = end.seconds - begin.seconds, waiting = end.waiting - begin.waiting;
  StepTime& time = by_step_[&step];
  ++time.runs;
  time.seconds += seconds;
  time.inside += inside_.seconds;
  time.waiting += waiting - inside_.waiting;
  inside_ = {outer_inside.seconds + seconds, outer_inside.waiting + waiting};
  if (spans_.size() < most_spans_) spans_.push_back({&step, begin.seconds, seconds});
}

}  // namespace lowtide::engine
