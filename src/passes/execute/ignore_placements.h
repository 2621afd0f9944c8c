#pragma once
/// Drops a program's annotations about several devices, if one device runs all of it.
///
///     s = f32[8,4] custom-call(x), custom_call_target="Sharding", sharding={devices=[4,1]<=[4]}
///     y = f32[8,4] negate(s)                                         ==>     y = f32[8,4] negate(x)
///
/// Saves bytes(x) for each annotation that changes the sharding and back: here it moves nothing. Shardings of other
/// instructions are dropped too, so that rewrites needn't avoid values with different placements.
///
/// Only for running. A program that is returned keeps its annotations, unless they are redundant
/// (canonicalise/drop_annotations.h): a constraint with only unsharded dimensions means "replicate" to a partitioner. A
/// program for XLA loses them if its header has no `num_partitions`: XLA runs no partitioner then, and needs the same
/// memory with and without them.
///
/// Requires: verified.  Keeps: roots, donation, schedule.  Breaks: shardings.
/// Numerics: exact.
/// Not done: programs of one device among many, with collectives, partition-id or manual shardings; annotations that
///   change the shape.
/// Tests: tests/text/passes/ignore-placements/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> ignore_placements(Module& module);

/// The same for a program that XLA compiles: if the header states no partitions, XLA ignores placements as well.
Result<PassResult> ignore_inert_placements(Module& module);

}  // namespace lowtide::engine
