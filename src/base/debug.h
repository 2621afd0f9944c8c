#pragma once
/// Every knob of the environment, declared here and nowhere else; docs/debugging.md describes them.

#include <string>
#include <string_view>
#include <vector>

namespace lowtide {

/// What LOWTIDE_DEBUG shows; each level includes those before it.
enum class DebugLevel : int {
  kSummary = 1,   ///< one closing line
  kPasses = 2,    ///< a row per pass: milliseconds, changed, peak before and after, note
  kModules = 3,   ///< the module after each pass that changed it
  kSchedule = 4,  ///< the timeline and the table of buffers
  kAll = 5,
};

struct Knobs {
  int debug = 0;                          ///< LOWTIDE_DEBUG=1..5[,filter,..]
  std::vector<std::string> debug_filter;  ///< only of these passes; empty: of all
  std::string dump_directory;             ///< LOWTIDE_DUMP=dir: every stage as a file that is an input again
  std::vector<std::string> disabled;      ///< LOWTIDE_DISABLE=pass,..
  std::string isa;                        ///< LOWTIDE_ISA=avx2|avx512: what kernels are compiled for
  std::string cache_directory;            ///< LOWTIDE_CACHE=dir: compiled kernels and plans
  bool no_cache = false;                  ///< LOWTIDE_CACHE=off, or set to nothing
  std::string user_cache_directory;       ///< XDG_CACHE_HOME
  std::string home_directory;             ///< HOME
  bool check = false;                     ///< LOWTIDE_CHECK=1: after each pass verify, and compare with the interpreter
  bool poison = false;                    ///< LOWTIDE_POISON=1: bytes of the arena that hold no value are NaN
  int threads = 0;                        ///< LOWTIDE_THREADS=n of the pool, the caller included; 0: one per processor
  double progress_after = 2;              ///< LOWTIDE_PROGRESS=seconds: progress is drawn of what takes longer
  /// Every knob that is set and changes plans or kernels, as text: a part of the name of all that a cache keeps.
  std::string changing;
};

/// The environment as it was when first asked.
const Knobs& knobs();
/// Reads knobs through `get`, which returns null for an unset name, as std::getenv does.
Knobs read_knobs(const char* (*get)(const char* name));

/// Whether `level` is shown for `topic`, a pass's name or empty where none is concerned.
bool debug_shows(DebugLevel level, std::string_view topic = {});
/// Is anything shown or dumped?
bool is_debugging();
bool is_disabled(std::string_view pass);

/// Writes a line to stderr.
void debug_print(std::string_view line);

}  // namespace lowtide
