#pragma once
/// Helpers that collectives share: attributes, group sizes, results of several operands, and execution on one device.

#include "ops/attribute_text.h"
#include "ops/checks.h"
#include "ops/op_rule.h"

namespace lowtide::engine {

/// Reads replica_groups, source_target_pairs, dimensions and use_global_device_ids, as far as they are present.
Status read_collective(AttributeReader& reader, Instruction& collective);
void print_collective(const Instruction& collective, AttributeWriter& writer);

/// The same, with the computation `to_apply` in addition.
Status read_reducing_collective(AttributeReader& reader, Instruction& collective);
void print_reducing_collective(const Instruction& collective, AttributeWriter& writer);

/// The operands' own shapes: one, or a tuple.
Shape shapes_of_operands(const Instruction& collective);

/// The declared result shapes of a collective, one per operand. Empty if their number differs from the operands'.
std::vector<const Shape*> declared_results(const Instruction& collective, const Shape& declared);

/// Does every group hold one device, so that nothing moves? Sizes are known to be 1, or one device has no groups.
bool is_alone(const Instruction& collective);

/// Fault::kUnsupported for a collective over several devices.
Status needs_devices(const Instruction& collective);

/// Returns the operands as the result, for a collective that moves nothing.
Result<Value> eval_alone(const Instruction& collective, Operands operands, EvalContext& context);

}  // namespace lowtide::engine
