#pragma once
/// A plan: what is stored, where and when, so that a program runs in a stated number of bytes.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/error.h"
#include "lowtide/fit_report.h"
#include "lowtide/module.h"
#include "lowtide/visibility.h"

namespace lowtide {

/// Bytes of the arena with one address for a part of the run.
struct Buffer {
  std::string value;              ///< the first value that lives in it: "fusion.88"
  int64_t bytes = 0, offset = 0;  ///< in the arena
  int32_t born = 0, dies = 0;     ///< alive in steps [born, dies)
};

/// Immutable and shared: copies are cheap, and any number of threads may use them at once.
class LOWTIDE_PUBLIC Plan {
 public:
  /// Bytes: arguments, results, what both share, the arena; their peak is what a run takes.
  Sizes sizes() const;
  int64_t peak_bytes() const { return sizes().peak; }
  /// No order of the operations as they stand, and no executor, needs less.
  Result<LowerBound> floor_of_order() const;
  Result<LowerBound> floor_of_any() const;
  double modelled_seconds() const;
  double plan_seconds() const;  ///< that planning took
  int64_t kernels() const;
  bool is_exact() const;  ///< every sum in its order: Options::exact, or the text of the plan says so
  /// What went wrong while it was made; empty: nothing.
  std::string warning() const;
  std::vector<Buffer> buffers() const;
  /// Can it be run here? Otherwise why not.
  Result<void> can_run() const;
  /// As a text that Session::replay reads: the same plan again, without its search.
  std::string text() const;
  /// The program as it was rewritten.
  Result<Module> module() const;

  struct State;
  explicit Plan(std::shared_ptr<const State> state);
  const State& state() const { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

/// The plan chosen, and the search for it.
struct Fit {
  Plan plan;
  FitReport report;
};

/// A program for XLA, rewritten so that XLA needs less for it.
struct FitForXla {
  Module module;
  FitReport report;  ///< sizes are a model of XLA's account; XLA decides
};

}  // namespace lowtide
