#pragma once
/// What arrays take, and how much they may. Counted are the elements of arrays that stand and, while a program runs,
/// its results and its arena, to the byte; what is kept to be used again is not. An evaluation is planned before it
/// runs, so that a limit is kept or refused (limit_error), and never overrun.

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
LOWTIDE_PUBLIC size_t get_cache_memory();  ///< bytes that no array has, kept for the next one
LOWTIDE_PUBLIC size_t get_memory_limit();  ///< SIZE_MAX: none
LOWTIDE_PUBLIC size_t set_memory_limit(size_t bytes);  ///< gives the limit before; a hard one
LOWTIDE_PUBLIC size_t set_cache_limit(size_t bytes);   ///< gives the limit before
LOWTIDE_PUBLIC size_t set_wired_limit(size_t bytes);   ///< gives the limit before; pages stay where the system has them
LOWTIDE_PUBLIC void clear_cache();
/// Bytes that lie under evaluated arrays, of several on the same ones once.
LOWTIDE_PUBLIC size_t get_array_buffer_size(const std::vector<array>& arrays);

struct MemoryStats {
  int64_t bytes_in_use = 0, peak_bytes_in_use = 0, largest_alloc_size = 0, num_allocs = 0;
  int64_t bytes_limit = 0;     ///< 0: none
  int64_t bytes_reserved = 0;  ///< in use or kept
};
LOWTIDE_PUBLIC MemoryStats memory_stats();

/// How often a graph was planned, how often a plan was found again, and how many kernels were compiled: graphs that
/// differ in their shapes alone mostly share theirs.
struct PlanStats {
  int64_t made = 0, found = 0, kernels = 0;
};
LOWTIDE_PUBLIC PlanStats plan_stats();

/// What evaluating fn(args) would take, before anything runs: peak, floors, buffers, the program.
LOWTIDE_PUBLIC Plan plan(const std::function<std::vector<array>(const std::vector<array>&)>& fn,
                         const std::vector<array>& args);
/// The same function, evaluated as it is called, in a plan whose peak (arguments, results and arena) is within `bytes`.
LOWTIDE_PUBLIC std::function<std::vector<array>(const std::vector<array>&)> limit(
    std::function<std::vector<array>(const std::vector<array>&)> fn, size_t bytes);

/// The session that plans and runs from now on: its threads, its caches of kernels. Without this call the first
/// evaluation opens one with no options, which keeps nothing on disk.
LOWTIDE_PUBLIC void use(const Session& session);

}  // namespace lowtide
