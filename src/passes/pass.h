#pragma once
/// Passes: Module -> Module, each one a free function in its own pair of files.
///
/// Terms of a pass's contract:
///   verified   verify() holds           flat      no call instructions, no nested tuples
///   scheduled  instruction order is an order worth keeping
///   roots, donation, schedule           what a pass keeps or breaks

#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/status.h"
#include "ir/module.h"
#include "lowtide/numerics.h"
#include "target/target.h"

namespace lowtide::engine {

const char* numerics_name(Numerics numerics);  ///< "value-exact"

struct PassResult {
  bool changed = false;
  int64_t count = 0;  ///< rewrites done
  std::string note;   ///< one line for the table: "3 casts removed"
};

/// Of a pass that made so many rewrites; done: "casts removed".
PassResult rewritten(int64_t count, std::string_view done);

/// A free function that takes the module, or the module and the target that it is rewritten for.
class PassFunction {
 public:
  template <class Run>
  PassFunction(Run run) {  // NOLINT(google-explicit-constructor): a table row names its function
    if constexpr (std::is_invocable_v<Run, Module&, const Target&>) {
      run_ = std::move(run);
    } else {
      run_ = [run = std::move(run)](Module& module, const Target&) { return run(module); };
    }
    if constexpr (std::is_pointer_v<Run>) pointer_ = reinterpret_cast<const void*>(run);
  }
  Result<PassResult> operator()(Module& module, const Target& target) const { return run_(module, target); }
  /// Are both the same function? False if either is a lambda, which may hold a decision.
  bool is_same(const PassFunction& other) const { return pointer_ != nullptr && pointer_ == other.pointer_; }

 private:
  std::function<Result<PassResult>(Module&, const Target&)> run_;
  const void* pointer_ = nullptr;
};

struct Pass {
  std::string_view name;  ///< "remove-noop-copies"
  PassFunction run;
  Numerics numerics;
  std::string_view reason;  ///< why the pass is at this place
  /// Its numerics if Module::sums_in_order; kReassociated: then it isn't run.
  Numerics in_order = Numerics::kReassociated;
};
/// The numerics of a pass when run on this module.
Numerics numerics_of(const Pass& pass, const Module& module);

/// The pipeline, in order; documented in pipeline.cpp.
const std::vector<Pass>& pipeline();
/// Passes before regions are formed when a program is planned or run here: the pipeline, and rewrites that only our
/// kernels benefit from.
const std::vector<Pass>& execution_pipeline();
/// Passes that a plan may decide to run after all others, once the program has an order.
const std::vector<Pass>& decided_passes();
/// Passes before a program is returned for XLA, with the streams that were decided for it; documented in
/// pipeline_for_xla.cpp.
const std::vector<Pass>& pipeline_for_xla();
inline constexpr std::string_view kDecidedStreams = "decided-streams";  ///< the pass that inserts them
/// Passes before planning for the target; for a target that takes modules, those before the module is returned.
const std::vector<Pass>& pipeline_of(const Target& target);
/// Finds a pass by name in all pipelines.
const Pass* find_pass(std::string_view name);

/// One row of the pass table.
struct PassRecord {
  std::string_view name;  ///< Pass::name
  PassResult result;
  double milliseconds = 0;
  int64_t peak_before = 0, peak_after = 0;  ///< of the module as given; zero if not requested
};

struct PassOptions {
  bool record_peaks = false;  ///< records the peak before and after each pass; Settings::debug = 2 also does
  bool quiet = false;         ///< no dumps or messages, for one of many plans that are tried
  bool trusted = false;       ///< verify only at the end: for a replayed plan, or one of many that are tried
};

/// Runs passes: skips disabled ones and those that found nothing since the last change, times, verifies, records the
/// peak, dumps. The module must be verified. Implicit conversions are made explicit first (execute/spell_precisions.h);
/// every pass may rely on that. An error of kind kInternal names the pass that left an invalid module or, with
/// Choices::check, changed results.
Result<std::vector<PassRecord>> run_passes(Module& module, const std::vector<Pass>& passes, const Target& target,
                                           const PassOptions& options = {});

}  // namespace lowtide::engine
