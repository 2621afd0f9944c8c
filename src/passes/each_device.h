#pragma once
/// What each of several devices runs by itself, where no partitioner is needed to say it.

#include "base/status.h"
#include "ir/module.h"

namespace lowtide::engine {

/// The program of one of the devices. It is the module itself where one device runs it alone, or where all have whole
/// arrays; and the body where manual regions (pmap, shard_map) are all that the entry has, and their borders divide as
/// arguments and results are divided:
///
///     x = f32[8,3] parameter(0), sharding={devices=[4,1]<=[4]}
///     p = f32[2,3] custom-call(x), custom_call_target="xla.sdy.GlobalToLocalShape"
///     r = f32[2,3] call(p), to_apply=body
///     ROOT w = f32[8,3] custom-call(r), custom_call_target="xla.sdy.LocalToGlobalShape"
///   ==>
///     x = f32[2,3] parameter(0)
///     ROOT r = f32[2,3] call(x), to_apply=body
///
/// kUnsupported, and the module stays as it was: arrays are divided elsewhere, or devices talk or ask who they are.
/// Numerics: exact.
Status become_one_of_many(Module& module);

}  // namespace lowtide::engine
