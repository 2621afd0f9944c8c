#pragma once
/// Which leaves are aliases of one value, by the HLO semantics of the operations between them.

#include "region/region.h"

namespace lowtide::engine {

/// The value resolved through tuples, their elements, barriers and other operations that only rename.
LeafRef behind_bundles(LeafRef leaf);

/// Does the result have the bytes of its first operand, possibly in another shape?
bool has_bytes_of_operand(const Instruction& i);

/// The source of a value that a loop's body, or every branch of a conditional, passes through unchanged. Its readers
/// needn't wait for the control instruction.
LeafRef passed_through(LeafRef leaf);

/// Of a loop's condition or body, or a branch: its one parameter.
const Instruction* parameter_of(const Computation& c);

}  // namespace lowtide::engine
