#include <fmt/format.h>

#include "nest/legalise.h"

namespace lowtide::engine {
namespace {

using Types = std::span<const ElementType>;

bool is_whole_integer(ElementType type) { return is_integral(type) && type_bits(type) >= 8; }
bool is_plain_type(ElementType type) {
  return type == ElementType::kPred || is_wide_float(type) || is_whole_integer(type);
}

bool is_plain_convert(ElementType from, ElementType to) {
  const auto is_half = [](ElementType type) { return type == ElementType::kF16; };
  if (is_half(from)) return to == ElementType::kF32;
  if (is_half(to)) return from == ElementType::kF32;
  if (is_whole_integer(from) && is_whole_integer(to)) return true;
  if (is_wide_float(from) && is_wide_float(to)) return true;
  const auto fits = [](ElementType integer) { return is_whole_integer(integer) && type_bits(integer) >= 32; };
  return (is_wide_float(from) && fits(to)) || (fits(from) && is_wide_float(to));
}

bool is_plain_bitcast(ElementType from, ElementType to) {
  const auto is_bits = [](ElementType type) {
    return is_whole_integer(type) || is_wide_float(type) || type == ElementType::kF16;
  };
  return type_bits(from) == type_bits(to) && is_bits(from) && is_bits(to);
}

bool is_plain_arithmetic(Opcode opcode, ElementType type) {
  switch (opcode) {
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kMultiply:
    case Opcode::kDivide:
    case Opcode::kMaximum:
    case Opcode::kMinimum: return is_wide_float(type) || is_whole_integer(type);
    case Opcode::kSqrt:
    case Opcode::kNegate:
    case Opcode::kAbs:
    case Opcode::kFloor:
    case Opcode::kCeil:
    case Opcode::kRoundNearestEven: return is_wide_float(type);
    case Opcode::kRemainder:
    case Opcode::kPopcnt:
    case Opcode::kCountLeadingZeros:
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightArithmetic:
    case Opcode::kShiftRightLogical: return is_whole_integer(type);
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kNot: return is_whole_integer(type) || type == ElementType::kPred;
    default: return false;
  }
}

bool is_plain_operation(const Node& node, Types operands) {
  switch (node.opcode) {
    case Opcode::kConvert: return is_plain_convert(operands[0], node.type);
    case Opcode::kBitcastConvert: return is_plain_bitcast(operands[0], node.type);
    case Opcode::kCompare:
      return operands[0] == operands[1] && is_plain_type(operands[0]) && operands[0] != ElementType::kPred &&
             node.compare.type == CompareType::kDefault;
    case Opcode::kSelect:
      return operands[0] == ElementType::kPred && is_plain_type(node.type) && operands[1] == node.type &&
             operands[2] == node.type;
    default: break;
  }
  for (const ElementType operand : operands) {
    if (operand != node.type) return false;
  }
  return is_plain_arithmetic(node.opcode, node.type);
}

std::string check_nodes(std::span<const Node> nodes) {
  std::vector<ElementType> types;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    types.clear();
    for (const NodeId operand : node.operands) types.push_back(nodes[operand].type);
    if (node.kind == NodeKind::kOperation) {
      if (is_plain_operation(node, types)) continue;
      std::string text;
      for (const ElementType type : types) text += fmt::format(" {}", type_name(type));
      return fmt::format("node {} is not plain: {} {} of{}", i, type_name(node.type), opcode_name(node.opcode), text);
    }
    if (node.kind == NodeKind::kFma && !is_wide_float(node.type)) return fmt::format("node {}: fma of no float", i);
    if (node.kind == NodeKind::kTable && (type_bits(node.type) > 32 || node.table->elements.size() > 256))
      return fmt::format("node {}: too wide a table", i);
    if (!is_plain_type(node.type)) return fmt::format("node {} is of the type {}", i, type_name(node.type));
  }
  return {};
}

}  // namespace

std::string check_plain(const Nest& nest) {
  for (size_t i = 0; i < nest.buffers.size(); ++i) {
    if (!is_plain_type(nest.buffers[i].type)) {
      return fmt::format("buffer {} is of the type {}", i, type_name(nest.buffers[i].type));
    }
  }
  std::string fault = check_nodes(nest.nodes);
  for (const Loop& loop : nest.loops) {
    if (fault.empty() && loop.combine) fault = check_nodes(loop.combine->nodes);
  }
  return fault;
}

}  // namespace lowtide::engine
