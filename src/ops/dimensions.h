#pragma once
/// The attribute `dimensions={...}` of many operations.

#include "ops/op_rule.h"

namespace lowtide::engine {

Status read_dimensions(AttributeReader& reader, Instruction& instruction);
/// The same; an absent attribute is an empty list.
Status read_dimensions_or_none(AttributeReader& reader, Instruction& instruction);
void print_dimensions(const Instruction& instruction, AttributeWriter& writer);

}  // namespace lowtide::engine
