#pragma once
/// The share of its updates that a scatter is expected to take. A slice of a scatter along the dimension of an index
/// reads all indices, but skips the updates of other slices, which its operands don't show. A note of the instruction
/// does:
///
///     s = f32[4096,64] scatter(t, i, u), ..., frontend_attributes={lowtide_updates_taken="0.03125"}

#include "ir/module.h"

namespace lowtide::engine {

/// 1 without a note.
double updates_taken(const Instruction& scatter);
/// Multiplies the share by `part`.
void take_part_of_updates(Instruction& scatter, double part);
/// Removes the note; false: there was none.
bool drop_updates_taken(Instruction& scatter);

}  // namespace lowtide::engine
