#pragma once
/// The entry point: a session has the threads, the caches and the options. Sessions with different options can exist
/// at the same time; they share nothing, and neither read nor set state of the process such as its environment.
///
///   auto session = lowtide::Session::open({.limit = int64_t{8} << 30});
///   auto module = session->read("train_step.hlo");
///   auto plan = session->plan(*module);
///   auto executable = session->compile(*plan);
///   executable->run(arguments, results);

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/error.h"
#include "lowtide/executable.h"
#include "lowtide/explanation.h"
#include "lowtide/largest_extent.h"
#include "lowtide/module.h"
#include "lowtide/options.h"
#include "lowtide/packing.h"
#include "lowtide/plan.h"
#include "lowtide/run.h"
#include "lowtide/tensors.h"
#include "lowtide/visibility.h"

namespace lowtide {

/// Which stage of a module to take from an XLA dump directory.
enum class Stage : uint8_t {
  kLatest,
  kBeforeXla,  ///< XLA's input, before its optimizations
};

/// How a plan is checked.
struct FitCheck {
  bool only_small = false;  ///< on a small instantiation, whether or not the program itself could be run
  int64_t control = 0;      ///< falsify results after this decision, counted from 1: the check must notice
};

/// Which programs to try for the largest extent.
struct ExtentSearch {
  int64_t limit = 0;        ///< bytes
  int64_t multiple_of = 1;  ///< extents
  bool for_xla = false;     ///< the peak of fit_for_xla by the model of XLA's account
};

/// Receives the chosen plan, as text, before anything else is made from it; an error ends the call.
using PlanChosen = std::function<Result<void>(const std::string& plan)>;

/// Copies refer to the same session. All of it may be called from several threads at once. A module that is moved into
/// a call and has no other copies is not copied there.
class LOWTIDE_PUBLIC Session {
 public:
  /// kUsage names an invalid option.
  static Result<Session> open(Options options = {});
  int threads() const;  ///< number of compute threads, including the calling one

  /// Reads HLO text, StableHLO text or bytecode (also as written by jax.export), HLO protobuf, any of them gzipped, or
  /// an XLA dump directory (`dump#name` selects a module).
  Result<Module> read(const std::string& path, Stage stage = Stage::kLatest) const;
  /// The same from memory; `name` appears in messages, and decides between HLO (.hlo) and StableHLO (.mlir) if the
  /// bytes don't.
  Result<Module> parse(std::string bytes, const std::string& name = "<memory>") const;
  Result<Module> build(const ModuleBuilder& builder) const;

  /// boxes: include what html() and trace() draw.
  Result<Explanation> explain(Module module, bool boxes = false) const;
  /// The free plan, or the fastest within Options::limit. kLimit comes with the lowest peak found (Error::lowest_peak).
  Result<Plan> plan(Module module) const;
  /// The fastest plan within the limit or, without a limit, the tightest, by a full search. An unmet limit is no error
  /// here: FitReport::met says so, and the plan is the tightest found.
  Result<Fit> fit(Module module, std::optional<int64_t> limit = {}, const PlanChosen& chosen = {}) const;
  /// The same for a program that XLA will run; from a dump directory it takes XLA's input. Without a limit: the lowest
  /// plan that takes at most 1.5 times the modelled time of the free plan, and of the program without streams.
  Result<FitForXla> fit_for_xla(Module module, std::optional<int64_t> limit = {}) const;
  /// The largest extent with which the program fits. "ARGUMENT:D" is dimension D of an argument, given by its path,
  /// name or number: whatever depends on the dimension is resized with it, and each program is planned; none is run.
  /// kUsage if there is no such dimension, kUnsupported if the program can't be derived for other extents.
  Result<LargestExtent> largest(Module module, std::string_view dimension, ExtentSearch how) const;
  /// A plan from its text; kInput if it is another module's plan. `name` appears in messages.
  Result<Plan> replay(Module module, std::string_view text, const std::string& name = "the plan") const;
  /// Runs the program as given and as planned on seeded arguments and compares all results; a program too large for
  /// memory, or that would run for minutes, is replaced by a small instantiation. kWrongValues names the first decision
  /// with which they differ.
  Result<CheckedFit> check(const Plan& plan, FitCheck how = {}) const;

  /// Compiles the kernels. kLimit if the machine hasn't enough memory, kUnsupported if the plan can't be run.
  Result<Executable> compile(const Plan& plan) const;
  /// Interprets the program by the definitions of its operations instead: exact, slow, and in unplanned memory. kLimit
  /// if there is too little memory.
  Result<Run> interpret(Module module, RunFiles files = {}) const;
  /// Runs the module both compiled and interpreted on seeded arguments: kWrongValues if results differ; errors of
  /// compilation are returned. A module that can't be interpreted or isn't supported passes.
  Result<void> check(const Module& module, uint64_t seed = 0) const;

  /// The module after these passes (lowtide/passes.h), in this order; without a list, after the whole first pipeline.
  Result<Module> rewrite(Module module, const std::optional<std::vector<std::string>>& passes = {}) const;
  /// The smallest program found for which fails() is true, as it must be for `module`; `most_tries` programs are tried.
  /// fails() is called by one thread, and not after cancel().
  Result<Module> shrink(const Module& module, const std::function<bool(const Module&)>& fails,
                        int64_t most_tries = 5000) const;

  /// A table of buffers as CSV with the columns id,lower,upper,size[,alignment][,gaps]: alive in steps [lower, upper).
  /// capacity: the search stops at this many bytes; 0: as low as possible. `name` appears in messages.
  Result<Packing> pack(std::string_view table, int64_t capacity = 0, const std::string& name = "<memory>") const;

  /// A safetensors file, or numpy's .npz.
  Result<TensorFile> open_tensors(const std::string& path) const;
  /// Reserves space for these arrays, named `prefix` plus their number; the metadata has their paths under these names.
  /// A full disk is an error here, not later. kUnsupported: the format lacks the type.
  Result<TensorWriter> create_tensors(const std::string& path, std::span<const ProgramArray> arrays,
                                      const std::string& prefix = "out") const;
  /// Replaces a file atomically, keeping its owner and mode; pipes and devices are written to.
  Result<void> write_file(const std::string& path, std::string_view content) const;

  /// All calls that are searching end with what they have found, or with kInterrupted if that is nothing. This and the
  /// two functions below may be called from any thread and from signal handlers.
  void cancel() const noexcept;
  /// For a process that ends in a signal handler: removes the incomplete files that calls are writing.
  void remove_unfinished_files() const noexcept;
  /// The name of the session's file that is mapped at this address, for a handler of SIGBUS, which is raised when a
  /// file shrinks while it is used; null: none.
  const char* file_mapped_at(const void* address) const noexcept;

  struct State;
  explicit Session(std::shared_ptr<State> state);

 private:
  std::shared_ptr<State> state_;
};

}  // namespace lowtide
