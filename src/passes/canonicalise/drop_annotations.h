#pragma once
/// Drops custom calls that only annotate a value, where the annotation no longer matters.
///
///     s = f32[8] custom-call(x), custom_call_target="Sharding", sharding={replicated}
///     y = f32[8] negate(s)                                     ==>     y = f32[8] negate(x)
///
/// Saves bytes(x) for each annotation that an executor would have turned into a copy, times the iterations where the
/// copy is stacked by a loop.
///
///   target                               goes when
///   Sharding, xla.sdy.*, SPMD*Shape      one device runs the program, and the shape stays;
///                                        on more: the operand carries the same sharding in its canonical form (no
///                                        dimension in one part, device lists written out), or every dimension is open
///   annotate_device_placement            no value of the module is placed elsewhere than on the device
///
/// On more than one device an annotation with only unsharded dimensions means "replicate here": it stays, unless the
/// operand is replicated already. The number of devices follows from shardings too, since a header may have lost
/// num_partitions.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Not dropped: annotations that name a group of shardings (shard_as, shard_like) on more than one device; layout
///   constraints and moves between memories (MoveToHost, MoveToDevice), which are real; those that control edges hold.
/// Tests: tests/text/passes/drop-annotations/

#include <string>

#include "ops/sharding_calls.h"
#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> drop_annotations(Module& module);

/// Do both divide a value of this rank in the same way? The canonical form drops irrelevant details.
bool same_sharding(const Sharding& a, const Sharding& b, int64_t rank);

}  // namespace lowtide::engine
