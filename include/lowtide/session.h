#pragma once
/// Where everything begins: a session has the threads, the caches and the options. Two with different options live side
/// by side; nothing is shared between them, and nothing of the process is read or set, the environment included.
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

/// Which of a module's stages in a dump directory of XLA's.
enum class Stage : uint8_t {
  kLatest,
  kBeforeXla,  ///< what XLA takes: before its optimizations
};

/// How a plan is checked.
struct FitCheck {
  bool only_small = false;  ///< on a small instantiation, whether or not the program itself could be run
  int64_t control = 0;      ///< results are made wrong behind this decision, counted from 1: the check must see it
};

/// Which programs are tried for the largest extent.
struct ExtentSearch {
  int64_t limit = 0;        ///< bytes
  int64_t multiple_of = 1;  ///< extents
  bool for_xla = false;     ///< what fit_for_xla comes to by the model of XLA's account
};

/// Told of the plan that was chosen, as text, before anything else is made of it; a fault ends the call.
using PlanChosen = std::function<Result<void>(const std::string& plan)>;

/// Shared: copies are the same session. All of it may be called from several threads at once. A module that is moved
/// into a call, and of which nobody else has a copy, is not copied there.
class LOWTIDE_PUBLIC Session {
 public:
  /// kUsage names an option that makes no sense.
  static Result<Session> open(Options options = {});
  int threads() const;  ///< that compute, the calling one included

  /// HLO text, StableHLO text or bytecode (what jax.export writes, too), HLO protobuf, any of them gzipped, or a dump
  /// directory of XLA's (`dump#name` chooses).
  Result<Module> read(const std::string& path, Stage stage = Stage::kLatest) const;
  /// The same from memory; `name` stands in messages, and decides between HLO (.hlo) and StableHLO (.mlir) where the
  /// bytes don't.
  Result<Module> parse(std::string bytes, const std::string& name = "<memory>") const;
  Result<Module> build(const ModuleBuilder& builder) const;

  /// boxes: with what html() and trace() draw.
  Result<Explanation> explain(Module module, bool boxes = false) const;
  /// The free plan, or the fastest within Options::limit. kLimit has the lowest peak found (Error::lowest_peak).
  Result<Plan> plan(Module module) const;
  /// The fastest within the limit, or, without one, the tightest; with the whole search. A limit that isn't met is no
  /// error here: FitReport::met says so, and the plan is the tightest found.
  Result<Fit> fit(Module module, std::optional<int64_t> limit = {}, const PlanChosen& chosen = {}) const;
  /// The same where XLA runs it; of a dump directory the program as XLA takes it.
  Result<FitForXla> fit_for_xla(Module module, std::optional<int64_t> limit = {}) const;
  /// The largest extent with which the program fits, of "ARGUMENT:D", dimension D of an argument by its path, its name
  /// or its number: whatever follows the dimension is resized with it, and each program is planned; none is run. kUsage
  /// where there is no such dimension, kUnsupported where the program says nothing of others.
  Result<LargestExtent> largest(Module module, std::string_view dimension, ExtentSearch how) const;
  /// A plan from its text; kInput where it is one of another module. `name` stands in messages.
  Result<Plan> replay(Module module, std::string_view text, const std::string& name = "the plan") const;
  /// Runs the program as given and as planned on seeded arguments and compares all results; of what no memory holds, or
  /// runs for minutes, a small instantiation. kWrongValues names the first decision with which they differ.
  Result<CheckedFit> check(const Plan& plan, FitCheck how = {}) const;

  /// Compiles the kernels. kLimit where the machine hasn't the memory, kUnsupported where the plan can't be run.
  Result<Executable> compile(const Plan& plan) const;
  /// By the definitions of its operations instead: exact, slow, in memory of its own. kLimit where there is too little.
  Result<Run> interpret(Module module, RunFiles files = {}) const;
  /// Compiled and interpreted on seeded arguments: kWrongValues where results differ, and whatever else goes wrong when
  /// it is compiled. What can't be interpreted or isn't supported passes.
  Result<void> check(const Module& module, uint64_t seed = 0) const;

  /// The module after these passes (lowtide/passes.h), in this order; without a list after the whole first pipeline.
  Result<Module> rewrite(Module module, const std::optional<std::vector<std::string>>& passes = {}) const;
  /// The smallest program found for which fails() is true, as it must be for `module`; `most_tries` programs are tried.
  /// fails() is called by one thread, and after cancel() no more.
  Result<Module> shrink(const Module& module, const std::function<bool(const Module&)>& fails,
                        int64_t most_tries = 5000) const;

  /// A table of buffers as CSV with the columns id,lower,upper,size[,alignment][,gaps]: alive in steps [lower, upper).
  /// capacity: bytes that are low enough; 0: as low as possible. `name` stands in messages.
  Result<Packing> pack(std::string_view table, int64_t capacity = 0, const std::string& name = "<memory>") const;

  /// A safetensors file, or numpy's .npz.
  Result<TensorFile> open_tensors(const std::string& path) const;
  /// Makes room for these arrays, called `prefix` and their number; paths stand in the metadata under these names. A
  /// full disk is a fault here, not later. kUnsupported: the format has no such type.
  Result<TensorWriter> create_tensors(const std::string& path, std::span<const ProgramArray> arrays,
                                      const std::string& prefix = "out") const;
  /// The file has its old content or all of the new one, its owner and its mode stay; pipes and devices are written to.
  Result<void> write_file(const std::string& path, std::string_view content) const;

  /// All calls that are searching end with what they found, or with kInterrupted where that is nothing. From any
  /// thread, and from signal handlers, as are the two below.
  void cancel() const noexcept;
  /// For a process that ends in a signal handler: nothing half-written stays of files that calls are writing.
  void remove_unfinished_files() const noexcept;
  /// The name of the file of the session's that is mapped at this address, for a handler of SIGBUS, which a file raises
  /// that shrinks while it is used; null: none is.
  const char* file_mapped_at(const void* address) const noexcept;

  struct State;
  explicit Session(std::shared_ptr<State> state);

 private:
  std::shared_ptr<State> state_;
};

}  // namespace lowtide
