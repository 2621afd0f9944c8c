#pragma once
/// Options of a session.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/host_call.h"
#include "lowtide/visibility.h"

namespace lowtide {

/// The progress of a call.
struct Progress {
  const char* stage = "";                 ///< "searching for plans"; empty: the last one has ended
  double done = 0, total = 0;             ///< total is 0 where unknown
  double seconds = 0;                     ///< since the stage began
  std::optional<int64_t> best_peak = {};  ///< bytes of the lowest found so far
  /// The share that is done, 0 to 1; 0 where unknown.
  LOWTIDE_PUBLIC double share() const;
  /// "searching for plans: 42 %, 5 of 12, about 12 s left, lowest peak 64.4 GiB"
  LOWTIDE_PUBLIC std::string text() const;
};

/// For debugging; docs/debugging.md. None of it changes a result.
struct Debugging {
  int level = 0;                         ///< how much is reported to Options::warn, 0 to 5
  std::vector<std::string> passes = {};  ///< report only on these; empty: all
  std::string dump_directory = {};       ///< every stage is written there as a file that can be read again; empty: none
  bool check = false;                    ///< after each pass, verify and compare with the interpreter
  bool poison = false;                   ///< bytes of the arena that hold no value are NaN
};

struct Options {
  int threads = 0;                    ///< compute threads, including the calling one; 0: one per core
  std::optional<int64_t> limit = {};  ///< bytes that a plan may need; none: the free plan
  bool exact = false;                 ///< keep the order of every sum: the same bits for every limit and plan
  /// Shortens the search for the free plan (without a limit), for callers that compile just in time: it ends where
  /// little memory is left to save, or where saving more is hardly worth the time that the search takes.
  bool brief_search = false;
  /// Elementwise and reduction kernels take extents as arguments, so that a program that differs from an earlier one
  /// only in its shapes compiles none; such a kernel may be a little slower than one with constant extents.
  bool kernels_of_any_shape = false;
  std::string cache_directory = {};          ///< of kernels and plans, private to its user; empty: nothing on disk
  int64_t cache_bytes = int64_t{256} << 20;  ///< the cache's largest size
  /// The machine whose cost model chooses plans and gives modelled seconds: one of machine_names(), or the text of a
  /// JSON object of facts (docs/fit.md); empty: the first of machine_names(). Programs run here in any case.
  std::string machine = {};
  std::string instruction_set = {};       ///< "avx2", "avx512"; empty: the best that this machine has
  std::vector<std::string> without = {};  ///< passes to leave out, by their names in pipelines()
  /// Called every `progress_interval` seconds while a call works, from a thread of the session's; none: no reports.
  std::function<void(const Progress&)> progress = {};
  double progress_interval = 0.1;
  /// Lines of warnings and of debugging, from any thread; none: they are dropped.
  std::function<void(std::string_view line)> warn = {};
  Debugging debugging = {};
  /// Functions that programs may call by these names while they run; see lowtide/host_call.h.
  std::map<std::string, HostFunction> host_functions = {};
  /// Asked, when a program is read, for the function of each custom call whose target Lowtide doesn't know. Empty:
  /// there is none, and the program can't be run. Otherwise the call is a call of that host function, with the whole
  /// target as its name. From any thread.
  std::function<HostFunction(std::string_view target)> foreign_calls = {};
};

/// Options from environment variables, for commands and bindings: the library itself never reads the environment. get:
/// a function such as std::getenv, which returns null for a name that isn't set. Unknown words are ignored.
///   LOWTIDE_THREADS=n              threads
///   LOWTIDE_ISA=avx2|avx512        instruction_set
///   LOWTIDE_DISABLE=pass,..        without
///   LOWTIDE_CACHE=dir|off          cache_directory; off or empty: none. Unset: the user's cache directory,
///                                  $XDG_CACHE_HOME/lowtide, else $HOME/.cache/lowtide
///   LOWTIDE_DEBUG=1..5[,pass,..]   debugging.level, debugging.passes
///   LOWTIDE_DUMP=dir               debugging.dump_directory
///   LOWTIDE_CHECK=1                debugging.check
///   LOWTIDE_POISON=1               debugging.poison
LOWTIDE_PUBLIC Options options_from_environment(const char* (*get)(const char* name));

/// The names Options::machine accepts: "zen5", two cores of a processor with AVX-512; "h100", "h200", "v5p".
LOWTIDE_PUBLIC std::vector<std::string> machine_names();

/// The command's cache directory, $XDG_CACHE_HOME/lowtide or ~/.cache/lowtide, from the values of both variables
/// (absolute paths, or empty).
LOWTIDE_PUBLIC std::string usual_cache_directory(std::string_view xdg_cache_home, std::string_view home);

}  // namespace lowtide
