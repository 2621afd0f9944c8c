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
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/error.h"
#include "lowtide/executable.h"
#include "lowtide/explanation.h"
#include "lowtide/module.h"
#include "lowtide/plan.h"
#include "lowtide/visibility.h"

namespace lowtide {

/// How far a call is.
struct Progress {
  const char* stage = nullptr;            ///< "searching for plans"
  double share = 0;                       ///< done, 0 to 1; 0 where nobody knows
  double seconds = 0;                     ///< since the stage began
  std::optional<int64_t> best_peak = {};  ///< bytes of the lowest found so far
};

struct Options {
  int threads = 0;                           ///< that compute, the calling one included; 0: one per processor
  std::optional<int64_t> limit = {};         ///< bytes that a plan may need; none: the free plan
  bool exact = false;                        ///< every sum stays in its order: the same bits for every limit and plan
  std::string cache_directory = {};          ///< of kernels and plans, its user's alone; empty: nothing on disk
  int64_t cache_bytes = int64_t{256} << 20;  ///< that stay in it
  std::string instruction_set = {};          ///< "avx2", "avx512"; empty: the best that this machine has
  std::vector<std::string> without = {};     ///< passes that are left out, by the names that `lowtide passes` prints
  /// Called every tenth of a second while a call works, from a thread of the session's; none: nobody waits.
  std::function<void(const Progress&)> progress = {};
  /// Lines of warnings; none: they are dropped.
  std::function<void(std::string_view line)> warn = {};
};

/// $XDG_CACHE_HOME/lowtide or ~/.cache/lowtide, where the command keeps its kernels, from what the caller knows of the
/// two variables (absolute paths, or empty).
LOWTIDE_PUBLIC std::string usual_cache_directory(std::string_view xdg_cache_home, std::string_view home);

/// Shared: copies are the same session. All of it may be called from several threads at once.
class LOWTIDE_PUBLIC Session {
 public:
  /// kUsage names an option that makes no sense.
  static Result<Session> open(Options options = {});

  /// HLO text, StableHLO text, HLO protobuf, any of them gzipped, or a dump directory of XLA's (`dump#name` chooses).
  Result<Module> read(const std::string& path) const;
  /// The same from memory; `name` stands in messages, and decides between HLO (.hlo) and StableHLO (.mlir) where the
  /// bytes don't.
  Result<Module> parse(std::string bytes, const std::string& name = "<memory>") const;
  Result<Module> build(const ModuleBuilder& builder) const;

  /// boxes: with what html() and trace() draw.
  Result<Explanation> explain(const Module& module, bool boxes = false) const;
  /// The free plan, or the fastest within Options::limit. kLimit names the lowest peak found.
  Result<Plan> plan(const Module& module) const;
  /// The fastest within the limit, or, without one, the tightest; with the whole search. A limit that isn't met is no
  /// error here: FitReport::met says so, and the plan is the tightest found.
  Result<Fit> fit(const Module& module, std::optional<int64_t> limit = {}) const;
  /// The same where XLA runs it.
  Result<FitForXla> fit_for_xla(const Module& module, std::optional<int64_t> limit = {}) const;
  /// A plan from its text; kInput where it is one of another module.
  Result<Plan> replay(const Module& module, std::string_view text) const;

  /// Compiles the kernels. kLimit where the machine hasn't the memory, kUnsupported where the plan can't be run.
  Result<Executable> compile(const Plan& plan) const;

  /// All calls that are searching end with what they found, or with kInterrupted where that is nothing. From any
  /// thread.
  void cancel() const;

  struct State;
  explicit Session(std::shared_ptr<State> state);

 private:
  std::shared_ptr<State> state_;
};

}  // namespace lowtide
