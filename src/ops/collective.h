#pragma once
/// What collectives share: attributes, group sizes, results of several operands, and their meaning on one device.

#include "ops/attribute_text.h"
#include "ops/checks.h"
#include "ops/op_rule.h"

namespace lowtide::engine {

/// replica_groups, source_target_pairs, dimensions, use_global_device_ids: those that are written.
Status read_collective(AttributeReader& reader, Instruction& collective);
void print_collective(const Instruction& collective, AttributeWriter& writer);

/// The same with `to_apply`.
Status read_reducing_collective(AttributeReader& reader, Instruction& collective);
void print_reducing_collective(const Instruction& collective, AttributeWriter& writer);

/// The operands' own shapes: one, or a tuple.
Shape shapes_of_operands(const Instruction& collective);

/// Result shapes of a collective, leaf by leaf: a declared shape as a list, one entry per operand. Empty where the
/// declared shape has another number of parts.
std::vector<const Shape*> declared_results(const Instruction& collective, const Shape& declared);

/// Every group holds one device, so that nothing moves: sizes known to be 1, or no groups in a module of one device.
bool is_alone(const Instruction& collective);

/// Fault::kUnsupported for a collective over several devices.
Status needs_devices(const Instruction& collective);

/// The operands as the result, for a collective that moves nothing.
Result<Value> eval_alone(const Instruction& collective, Operands operands, EvalContext& context);

}  // namespace lowtide::engine
