#pragma once
/// What a session is told once. Nothing below a session reads the environment: whoever opens one says it here
/// (lowtide/options.h has the names of the variables, docs/debugging.md describes them).

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

/// All that changes a plan or a kernel, and nothing else does: what is kept is kept under the text of this.
struct Choices {
  std::vector<std::string> disabled;  ///< passes, and other rewrites by their names, that are left out
  std::string machine;                ///< at whose prices plans are made (machine_line); empty: the first there is
  std::string isa;                    ///< "avx2" or "avx512": what kernels are compiled for; empty: the best there is
  bool check = false;  ///< after each pass verify, and compare with the interpreter; plans are checked to the end

  bool operator==(const Choices&) const = default;
};
/// Equal for equal choices alone.
std::string to_text(const Choices& choices);

struct Settings {
  Choices choices;
  int debug = 0;                             ///< 0 to 5: DebugLevel
  std::vector<std::string> debug_filter;     ///< only of these passes; empty: of all
  std::string dump_directory;                ///< every stage as a file that is an input again; empty: none
  std::string cache_directory;               ///< of compiled kernels and plans; empty: nothing is kept on disk
  int64_t cache_bytes = int64_t{256} << 20;  ///< that stay in it
  bool brief_search = false;                 ///< of the free plan: it ends where more would hardly pay
  bool any_shape = false;                    ///< extents are arguments of kernels, where they can be
  bool poison = false;                       ///< bytes of the arena that hold no value are NaN
  int threads = 0;                           ///< of the pool, the caller included; 0: one per processor
};

}  // namespace lowtide::engine
