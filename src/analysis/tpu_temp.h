#pragma once
/// What XLA states as temporary memory of a program compiled for TPUs: more than its arena.

#include "analysis/assignment.h"
#include "analysis/timeline.h"

namespace lowtide::engine {

/// The most bytes alive at once by XLA's own count, which the TPU backend compares its arena with. That count follows
/// the packer's trace, where a value that begins while another value of its buffer is alive is not entered: once the
/// first of a chain (a loop's initial value, say) has ended, the bytes of the others are not counted.
Bytes traced_peak(const Assignment& assignment, const Liveness& liveness);

/// Tuples of pointers in main memory, those of results aside. Each is an allocation of its own, at its own alignment.
int64_t tuples_in_memory(const Timeline& timeline);

/// Temp as stated: the arena with its tuples, and once more what it has beyond the traced peak. Tuples alone make none.
Bytes stated_temp(Bytes arena, Bytes alignment, int64_t tuples, Bytes traced_peak);

}  // namespace lowtide::engine
