#pragma once
/// Runs programs on files of tensors or on seeded numbers, as `lowtide run` does.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/comparison.h"
#include "lowtide/error.h"
#include "lowtide/profile.h"
#include "lowtide/program_array.h"
#include "lowtide/tensors.h"
#include "lowtide/visibility.h"

namespace lowtide {

/// Where arguments come from and where results go.
struct RunFiles {
  /// By number (`arg0`, `arg1`, ...) or by tree path; none: seeded numbers.
  std::optional<TensorFile> arguments = {};
  uint64_t seed = 0;
  /// Of the program's results, in their order; none: memory that is freed with the run.
  std::optional<TensorWriter> results = {};
};

/// A program with its arguments and room for its results (Executable::bind, Session::interpret). Arguments that are
/// only read stay in their mapped file, donated ones are private pages of it, and results are computed in their mapped
/// file: nothing is copied. Copies refer to the same run, which one thread may use at a time.
class LOWTIDE_PUBLIC Run {
 public:
  /// Runs `times` times, each on the original arguments; returns the seconds of each, without the time to restore
  /// arguments.
  Result<std::vector<double>> run(int64_t times = 1);
  /// The same with a profile of the time. spans: the number of step executions to record from the last run's beginning.
  /// kUsage for an interpreted program, which has no steps.
  Result<Profile> profile(int64_t times = 1, int64_t spans = 0);
  const std::vector<ProgramArray>& results() const;
  /// Elements of a result of the last run, valid until the next run or the end of this object; null before the first
  /// run, and after RunFiles::results is committed, which ends this object's use.
  const void* result(size_t number) const;
  /// Resident bytes of the pages of arena, arguments and results; none for an interpreted program.
  std::optional<int64_t> touched_bytes() const;
  /// Compares all results with `out0`, `out1`, ... of a file, or with its arrays by path. A tolerance that isn't given
  /// is taken from `rtol` or `atol_of_max` in the file's `__metadata__`, or is 0.
  Result<ResultsComparison> compare(const TensorFile& expected, std::optional<double> rtol = {},
                                    std::optional<double> atol_of_max = {}) const;
  /// Lines for people: "out0 f32[2,3]  least -0.25, mean 0.125, greatest 4"; `most` results of them.
  Result<std::vector<std::string>> summary(int64_t most = 12) const;
  /// Copies results that are elsewhere into RunFiles::results, before that is committed.
  Result<void> collect();

  struct State;
  explicit Run(std::shared_ptr<State> state);

 private:
  std::shared_ptr<State> state_;
};

}  // namespace lowtide
