#pragma once
/// Drops what a program says about many devices, where one runs all of it.
///
///     s = f32[8,4] custom-call(x), custom_call_target="Sharding", sharding={devices=[4,1]<=[4]}
///     y = f32[8,4] negate(s)                                         ==>     y = f32[8,4] negate(x)
///
/// Saves bytes(x) for each annotation between two shardings, there and back: here it moves nothing. Shardings of other
/// instructions go too: rewrites that keep away from values placed differently needn't.
///
/// For running. A program that is handed on keeps its annotations, unless they say nothing
/// (canonicalise/drop_annotations.h): a constraint of nothing but whole dimensions means "replicate" to a partitioner.
/// One that goes to XLA loses them where its header has no `num_partitions`: XLA runs no partitioner then, and needs
/// the same memory with them and without.
///
/// Requires: verified.  Keeps: roots, donation, schedule.  Breaks: shardings.
/// Numerics: exact.
/// Not done: programs of one device among many, with collectives, partition-id or manual shardings; annotations that
///   change the shape.
/// Tests: tests/text/passes/ignore-placements/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> ignore_placements(Module& module);

/// The same for a program that XLA compiles: where the header says of no partitions, XLA ignores placements as well.
Result<PassResult> ignore_inert_placements(Module& module);

}  // namespace lowtide::engine
