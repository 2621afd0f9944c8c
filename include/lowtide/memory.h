#pragma once
/// Statistics and limits of the arrays' memory. The elements of live arrays and, while a program runs, its results and
/// its arena are counted to the byte; cached memory is not counted. An evaluation is planned before it runs, so that it
/// either keeps to the limit or is refused (limit_error).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "lowtide/array.h"
#include "lowtide/plan.h"
#include "lowtide/session.h"
#include "lowtide/visibility.h"

namespace lowtide {

LOWTIDE_PUBLIC size_t get_active_memory();
LOWTIDE_PUBLIC size_t get_peak_memory();   ///< the most since the process began, or since reset_peak_memory()
LOWTIDE_PUBLIC void reset_peak_memory();   ///< to 0
LOWTIDE_PUBLIC size_t get_cache_memory();  ///< bytes that no array uses, kept for later arrays
LOWTIDE_PUBLIC size_t get_memory_limit();  ///< SIZE_MAX: none
LOWTIDE_PUBLIC size_t set_memory_limit(size_t bytes);  ///< returns the previous limit; a hard limit
/// Returns the previous limit, SIZE_MAX at first. Whatever the limit, live and cached memory together are at most 64
/// MiB more than live memory alone once was.
LOWTIDE_PUBLIC size_t set_cache_limit(size_t bytes);
LOWTIDE_PUBLIC size_t set_wired_limit(size_t bytes);  ///< returns the previous limit; has no other effect
LOWTIDE_PUBLIC void clear_cache();
/// Bytes of the buffers of evaluated arrays; a buffer that several arrays share counts once.
LOWTIDE_PUBLIC size_t get_array_buffer_size(const std::vector<array>& arrays);

struct MemoryStats {
  int64_t bytes_in_use = 0, peak_bytes_in_use = 0, largest_alloc_size = 0, num_allocs = 0;
  int64_t bytes_limit = 0;     ///< 0: none
  int64_t bytes_reserved = 0;  ///< in use or kept
};
LOWTIDE_PUBLIC MemoryStats memory_stats();

/// How often a graph was planned, how often a cached plan was reused, and how many kernels were compiled: graphs that
/// differ only in their shapes mostly share kernels.
struct PlanStats {
  int64_t made = 0, found = 0, kernels = 0;
};
LOWTIDE_PUBLIC PlanStats plan_stats();

/// The plan for evaluating fn(args), without running it: peak, lower bounds, buffers, the program.
LOWTIDE_PUBLIC Plan plan(const std::function<std::vector<array>(const std::vector<array>&)>& fn,
                         const std::vector<array>& args);
/// The same function, evaluated as it is called, in a plan whose peak (arguments, results and arena) is within `bytes`.
LOWTIDE_PUBLIC std::function<std::vector<array>(const std::vector<array>&)> limit(
    std::function<std::vector<array>(const std::vector<array>&)> fn, size_t bytes);

/// Makes this session, with its threads and its caches of kernels, plan and run all later evaluations. Without this
/// call the first evaluation opens a session with default options, which keeps nothing on disk.
LOWTIDE_PUBLIC void use(const Session& session);

}  // namespace lowtide
