#pragma once
/// Gathers that pick single slices of their operand along an index: each element of the result comes from one of them.
///
///     picked = f32[64] gather(logits f32[64,32000], labels s32[64,1]), slice_sizes={1,1}      along dimension 1

#include <optional>

#include "ops/slicing.h"

namespace lowtide::engine {

/// The positions along dimension d of its operand at which the gather picks; nullopt: it picks none there, or the
/// instruction is no gather.
std::optional<Positions> picks_along(const Instruction& i, int64_t d);

}  // namespace lowtide::engine
