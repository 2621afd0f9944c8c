#pragma once
/// A run's time, step by step.

#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/visibility.h"

namespace lowtide {

struct Profile {
  /// A step of the plan: a kernel of many operations, a library's call, a copy, a loop.
  struct Step {
    std::string name;    ///< its last instruction's name
    std::string kind;    ///< "kernel", or what a library computes: "dot", "convolution", "sort"; "copy", "while"
    std::string scope;   ///< the user's scope: "mlp/wi_0"; empty if unknown
    std::string source;  ///< "linears.py:212"; empty if unknown
    int64_t runs = 0;    ///< in all timed runs of the program, as are the seconds
    double seconds = 0;  ///< without the time of steps inside it
    double waiting = 0;  ///< share of the threads' time in which they were idle, 0 to 1
    double modelled_seconds = 0;  ///< the planner's estimate; 0 for a step that runs other steps
    double bytes = 0;             ///< read and written
    double operations = 0;        ///< floating-point operations of library products; otherwise 0
    /// The step's limit, the first of these that applies: "threads wait" (a third of their time), "arithmetic" or
    /// "memory" (more than half of the machine's stated rate), "starts" (less than 20 microseconds per run), "" if
    /// unknown.
    std::string held_back_by;
  };
  /// One run of one step.
  struct Span {
    int64_t step = 0;               ///< index in `steps`
    double start = 0, seconds = 0;  ///< from the beginning of the run
  };

  std::string module;
  int64_t runs = 0, threads = 0;
  double seconds = 0;           ///< over all runs
  double modelled_seconds = 0;  ///< of one run
  double machine_operations_per_second = 0,
         machine_bytes_per_second = 0;  ///< f32 products, memory: as planning assumes
  std::vector<Step> steps;              ///< by decreasing seconds
  std::vector<Span> spans;              ///< of the last run, up to the requested number

  /// As JSON, schema_version 1.
  LOWTIDE_PUBLIC std::string json() const;
  /// For a terminal of 100 columns: kinds of steps, then the longest `rows` steps. utf8: false for plain ASCII.
  LOWTIDE_PUBLIC std::string text(int64_t rows = 12, bool utf8 = true) const;
  /// The spans in Chrome's trace format, which Perfetto reads.
  LOWTIDE_PUBLIC std::string trace() const;
};

}  // namespace lowtide
