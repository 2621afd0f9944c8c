#pragma once
/// The temporary memory that XLA reports for a program compiled for TPUs, which is more than its arena.

#include "analysis/assignment.h"
#include "analysis/timeline.h"

namespace lowtide::engine {

/// The most bytes live at once by XLA's own count, with which the TPU backend compares its arena. The count follows the
/// packer's trace, which omits a value that begins while another value of its buffer is live: after the first value of
/// a chain (such as a loop's initial value) has ended, the bytes of the others aren't counted.
Bytes traced_peak(const Assignment& assignment, const Liveness& liveness);

/// The number of tuples of pointers in main memory, except those of results. Each is a separate, aligned allocation.
int64_t tuples_in_memory(const Timeline& timeline);

/// Temp as XLA reports it: the arena with its tuples, plus the excess over the traced peak. 0 if the arena is empty.
Bytes stated_temp(Bytes arena, Bytes alignment, int64_t tuples, Bytes traced_peak);

}  // namespace lowtide::engine
