#pragma once
/// The state of a public run: a program bound to its arguments, compiled or interpreted.

#include <memory>
#include <vector>

#include "backend/step_times.h"
#include "ir/shape.h"
#include "lowtide/run.h"
#include "session/state.h"
#include "session/tensor_state.h"

namespace lowtide {

struct Run::State {
  std::shared_ptr<Session::State> session;
  std::vector<ProgramArray> results;
  std::vector<engine::Shape> shapes;  ///< of the results
  RunFiles files;                     ///< as given; this keeps them open

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  virtual ~State() = default;

  /// Progress is reported there.
  virtual const std::shared_ptr<engine::Context>& context() const = 0;
  virtual const char* stage() const = 0;
  /// Restores the original arguments, before another run.
  virtual engine::Status restore() = 0;
  virtual engine::Status run() = 0;
  /// Adds steps' times to `times` from now on; false if it has no steps, or their times are unknown.
  virtual bool watch(engine::StepTimes* times) = 0;
  virtual Profile profile(const engine::StepTimes& times, int64_t runs, double seconds) const = 0;
  virtual const std::byte* result(size_t number) const = 0;
  virtual std::optional<int64_t> touched_bytes() const = 0;
  virtual void collect() = 0;

  /// When the results file has been committed, the results' pages are gone.
  bool is_over() const { return files.results && files.results->state().is_committed; }

  bool has_begun = false;  ///< arguments may have been overwritten
  bool has_run = false;    ///< results are there
};

namespace engine {

/// "out0 f32[2,3]  least -0.25, mean 0.125, greatest 4", so that the user sees the results at a glance.
std::string summary_of(const Run::State& run, size_t number);

Result<ResultsComparison> compare_with_file(const Run::State& run, const lowtide::TensorFile& expected,
                                            std::optional<double> rtol, std::optional<double> atol_of_max);

}  // namespace engine
}  // namespace lowtide
