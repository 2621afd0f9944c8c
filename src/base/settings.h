#pragma once
/// The settings of a session. Nothing below a session reads the environment: the code that opens a session passes it
/// here (lowtide/options.h has the names of the variables, docs/debugging.md describes them).

#include <cstdint>
#include <string>
#include <vector>

namespace lowtide::engine {

/// What Settings::debug shows; each level includes those before it.
enum class DebugLevel : int {
  kSummary = 1,   ///< one closing line
  kPasses = 2,    ///< a row per pass: milliseconds, changed, peak before and after, note
  kModules = 3,   ///< the module after each pass that changed it
  kSchedule = 4,  ///< the timeline and the table of buffers
  kAll = 5,
};

/// All settings that change a plan or a kernel, and no others: cached plans and kernels have the text of these in their
/// keys.
struct Choices {
  std::vector<std::string> disabled;  ///< names of passes and other rewrites that are left out
  std::string machine;                ///< whose costs plans use (machine_line); empty: the first one available
  std::string isa;                    ///< "avx2" or "avx512": the kernels' instruction set; empty: the best available
  bool check = false;  ///< verify after each pass, and compare with the interpreter; plans are checked completely

  bool operator==(const Choices&) const = default;
};
/// Different for different choices.
std::string to_text(const Choices& choices);

struct Settings {
  Choices choices;
  int debug = 0;                             ///< 0 to 5: DebugLevel
  std::vector<std::string> debug_filter;     ///< show only these passes; empty: all
  std::string dump_directory;                ///< gets every stage as a file that can be an input; empty: none
  std::string cache_directory;               ///< for compiled kernels and plans; empty: nothing is kept on disk
  int64_t cache_bytes = int64_t{256} << 20;  ///< the most bytes kept in it
  bool brief_search = false;                 ///< end the search for the free plan when more would hardly pay
  bool any_shape = false;                    ///< extents are arguments of kernels if possible
  bool poison = false;                       ///< fill bytes of the arena that hold no value with NaN
  int threads = 0;                           ///< of the pool, including the caller; 0: one per processor
};

}  // namespace lowtide::engine
