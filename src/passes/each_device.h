#pragma once
/// Extracts the part of a program for several devices that each runs by itself, where that needs no partitioner.

#include "base/status.h"
#include "ir/module.h"

namespace lowtide::engine {

/// Turns the module into the program of one device. It is the module itself if only one device runs it, or if all
/// arrays are replicated; it is the body if the entry consists only of manual regions (pmap, shard_map) whose
/// boundaries divide arrays as arguments and results are divided:
///
///     x = f32[8,3] parameter(0), sharding={devices=[4,1]<=[4]}
///     p = f32[2,3] custom-call(x), custom_call_target="xla.sdy.GlobalToLocalShape"
///     r = f32[2,3] call(p), to_apply=body
///     ROOT w = f32[8,3] custom-call(r), custom_call_target="xla.sdy.LocalToGlobalShape"
///   ==>
///     x = f32[2,3] parameter(0)
///     ROOT r = f32[2,3] call(x), to_apply=body
///
/// kUnsupported, with the module unchanged: arrays are sharded elsewhere, or devices communicate or use their ids.
/// Numerics: exact.
Status become_one_of_many(Module& module);

}  // namespace lowtide::engine
