#pragma once
/// Runs on files of tensors, or on seeded numbers: what `lowtide run` does.

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

/// Where arguments come from and results go.
struct RunFiles {
  /// By number (`arg0`, `arg1`, ...) or by tree path; none: seeded numbers.
  std::optional<TensorFile> arguments = {};
  uint64_t seed = 0;
  /// Of the program's results, in their order; none: memory that ends with the run.
  std::optional<TensorWriter> results = {};
};

/// A program with its arguments and room for its results (Executable::bind, Session::interpret). Arguments that are
/// only read stay where their file is mapped, donated ones are private pages of it; results are computed in their file:
/// there is no second copy of either. Copies are the same one, and it is of one thread at a time.
class LOWTIDE_PUBLIC Run {
 public:
  /// So many times, each on the arguments as they were given; the seconds of each, without what restores them.
  Result<std::vector<double>> run(int64_t times = 1);
  /// The same, and where the time went. spans: single runs of steps that are kept of the last run, from its first on.
  /// kUsage for what is interpreted, which has no steps.
  Result<Profile> profile(int64_t times = 1, int64_t spans = 0);
  const std::vector<ProgramArray>& results() const;
  /// Elements of a result as the last run left them, until the next one or the end of this; null where there are none:
  /// before a run, and when RunFiles::results is committed, which ends this.
  const void* result(size_t number) const;
  /// Bytes in pages of arena, arguments and results that the process holds in memory; nothing of what was interpreted.
  std::optional<int64_t> touched_bytes() const;
  /// All results with `out0`, `out1`, ... of a file, or with its arrays by path. What isn't given stands in the file's
  /// `__metadata__` as `rtol` and `atol_of_max`, or is 0.
  Result<ResultsComparison> compare(const TensorFile& expected, std::optional<double> rtol = {},
                                    std::optional<double> atol_of_max = {}) const;
  /// Lines for people: "out0 f32[2,3]  least -0.25, mean 0.125, greatest 4"; `most` results of them.
  Result<std::vector<std::string>> summary(int64_t most = 12) const;
  /// Brings results that lie elsewhere into RunFiles::results, before that is committed.
  Result<void> collect();

  struct State;
  explicit Run(std::shared_ptr<State> state);

 private:
  std::shared_ptr<State> state_;
};

}  // namespace lowtide
