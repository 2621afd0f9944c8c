#include "region/identity.h"

#include <fmt/format.h>

#include <unordered_map>

#include "analysis/leaves.h"
#include "ops/op_rule.h"
#include "target/roles.h"

namespace lowtide::engine {
namespace {

/// Appends everything about an operation but its operands.
void append_operation(const Instruction& i, std::string& text);

/// Appends the value's bytes; if all elements are equal, only one's.
void append(const Literal& value, bool all_equal, std::string& text) {
  const std::span<const std::byte> bytes = value.bytes();
  for (const std::byte b : all_equal ? bytes.first(static_cast<size_t>(stored_bytes(value.shape().type))) : bytes)
    fmt::format_to(std::back_inserter(text), " {}", static_cast<int>(b));
  for (const Value& part : value.parts()) append(*part, false, text);
}

/// Appends a computation with positions instead of names.
void append(const Computation& computation, std::string& text) {
  std::unordered_map<const Instruction*, size_t> position;
  text += " {";
  for (const auto& i : computation.instructions()) {
    position.emplace(i.get(), position.size());
    append_operation(*i, text);
    for (const Instruction* operand : i->operands)
      fmt::format_to(std::back_inserter(text), " {}", position.at(operand));
    text += ';';
  }
  fmt::format_to(std::back_inserter(text), "{}}}", position.at(computation.root));
}

void append_operation(const Instruction& i, std::string& text) {
  fmt::format_to(std::back_inserter(text), "{} {}", opcode_name(i.opcode), to_string(i.shape));
  if (const auto* parameter = i.if_as<ParameterAttributes>()) {
    fmt::format_to(std::back_inserter(text), " {}", parameter->number);
  } else if (const auto* constant = i.if_as<ConstantAttributes>()) {
    append(*constant->value, has_element(i), text);
  } else if (const auto print = rule_of(i.opcode).print) {
    std::string payload;
    AttributeWriter writer(text, &payload);
    print(i, writer);
    text += payload;
  }
  for (const Computation* called : i.called) append(*called, text);
}

}  // namespace

std::string identity(const Region& region) {
  std::string text;
  std::unordered_map<const Instruction*, size_t> made, outside;
  const auto name = [&](const LeafRef& leaf) {
    if (const auto op = made.find(leaf.instruction); op != made.end())
      return fmt::format(" {}.{}", op->second, leaf.leaf);
    for (size_t k = 0; k < region.inputs.size(); ++k) {
      if (region.inputs[k] == leaf) return fmt::format(" i{}", k);
    }
    // An array that an update overwrites is no input.
    const size_t number = outside.try_emplace(leaf.instruction, outside.size()).first->second;
    return fmt::format(" o{}.{}", number, leaf.leaf);
  };
  for (const LeafRef& input : region.inputs) text += to_string(*leaf_shape(input.instruction->shape, input.leaf)) + " ";
  for (const Instruction* op : region.ops) {
    text += '\n';
    append_operation(*op, text);
    for (const Instruction* operand : op->operands) {
      for (int32_t l = 0; l < leaf_count(operand->shape); ++l) text += name(resolve({operand, l}));
    }
    made.emplace(op, made.size());
  }
  for (size_t k = 0; k < region.outputs.size(); ++k) {
    text += "\n>" + name(region.outputs[k]);
    if (k < region.updates.size() && region.updates[k].instruction) text += " over" + name(region.updates[k]);
  }
  return text;
}

}  // namespace lowtide::engine
