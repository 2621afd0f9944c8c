#pragma once
/// A plan: which values are stored where and when, so that a program runs in a known number of bytes.

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

/// A range of bytes in the arena that is in use for part of the run.
struct Buffer {
  std::string value;              ///< the first value that lives in it: "fusion.88"
  int64_t bytes = 0, offset = 0;  ///< in the arena
  int32_t born = 0, dies = 0;     ///< alive in steps [born, dies)
};

/// Immutable and shared: copies are cheap, and any number of threads may use them at once.
class LOWTIDE_PUBLIC Plan {
 public:
  /// Bytes of arguments, results, their overlap and the arena; the peak is what a run takes.
  Sizes sizes() const;
  int64_t peak_bytes() const { return sizes().peak; }
  /// Lower bounds on the bytes: for any order of the operations as given, and for any executor.
  Result<LowerBound> floor_of_order() const;
  Result<LowerBound> floor_of_any() const;
  double modelled_seconds() const;
  double plan_seconds() const;  ///< time that planning took
  int64_t kernels() const;
  bool is_exact() const;  ///< every sum keeps its order: by Options::exact or the plan's text
  /// A problem that occurred while the plan was made; empty: none.
  std::string warning() const;
  std::vector<Buffer> buffers() const;
  /// Can it be run here? If not, why not?
  Result<void> can_run() const;
  /// A text from which Session::replay makes the same plan again, without the search.
  std::string text() const;
  /// The rewritten program.
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
