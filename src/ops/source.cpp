/// Operations without operands.
///
/// parameter(n)      the computation's n-th argument, of the declared shape      (C1) 0 <= n < 2^20
/// constant(value)   a value written in the program                             (C1) the value has the declared shape
/// partition-id, replica-id   -> u32[]: this device's number; 0 on one device   (C1) the declared shape is u32[]

#include <fmt/format.h>

#include <cstring>

#include "ops/extents.h"
#include "ops/infer.h"
#include "ops/op_rule.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kMostParameters = int64_t{1} << 20;

Status read_parameter(AttributeReader& reader, Instruction& instruction) {
  LT_ASSIGN_OR_RETURN(const int64_t number, reader.payload_integer());
  if (number < 0 || number >= kMostParameters) {
    return broken(instruction, "C1", fmt::format("the number must lie in [0, {}), got {}", kMostParameters, number))
        .at(reader.source(), reader.payload_place());
  }
  instruction.attributes = ParameterAttributes{number};
  return {};
}

void print_parameter(const Instruction& instruction, AttributeWriter& writer) {
  writer.payload(std::to_string(instruction.as<ParameterAttributes>().number));
}

Status read_constant(AttributeReader& reader, Instruction& instruction) {
  LT_ASSIGN_OR_RETURN(Value value, reader.payload_literal(instruction.shape));
  instruction.attributes = ConstantAttributes{std::move(value)};
  return {};
}

void print_constant(const Instruction& instruction, AttributeWriter& writer) {
  writer.payload(*instruction.as<ConstantAttributes>().value);
}

Result<Shape> infer_constant(const Instruction& instruction) {
  const Shape& value = instruction.as<ConstantAttributes>().value->shape();
  if (!same_shape(value, instruction.shape)) {
    return broken(instruction, "C1",
                  fmt::format("the value is {}, but {} is declared", to_string_without_layout(value),
                              to_string_without_layout(instruction.shape)));
  }
  return instruction.shape;
}

Result<Value> eval_constant(const Instruction& instruction, Operands, EvalContext&) {
  const Value& value = instruction.as<ConstantAttributes>().value;
  if (!value->known()) {
    return Status::input("the elements of constant " + instruction.name + " were left out of the text");
  }
  return value;
}

Result<Shape> infer_device_id(const Instruction& instruction) {
  if (!same_shape(instruction.shape, Shape::scalar(ElementType::kU32))) {
    return broken(instruction, "C1",
                  fmt::format("the result is u32[], but {} is declared", to_string_without_layout(instruction.shape)));
  }
  return instruction.shape;
}

Result<Value> eval_device_id(const Instruction&, Operands, EvalContext&) {
  return std::make_shared<const Literal>(Shape::scalar(ElementType::kU32));
}

/// Are all elements of the constant equal?
bool is_splat(const Instruction& instruction) {
  const Value& value = instruction.as<ConstantAttributes>().value;
  if (!value->known() || !value->shape().is_array() || value->size() == 0) return false;
  const auto bytes = value->bytes();
  const size_t step = bytes.size() / static_cast<size_t>(value->size());
  return std::memcmp(bytes.data(), bytes.data() + step, bytes.size() - step) == 0;
}

void element_constant(ElementContext& context, const Instruction& instruction, const Index&, std::span<NodeId> leaves) {
  const Value& value = instruction.as<ConstantAttributes>().value;
  ElementBits bits{};
  std::memcpy(bits.data(), value->bytes().data(), static_cast<size_t>(stored_bytes(value->shape().type)));
  leaves[0] = context.nest.constant(value->shape().type, bits);
}

void element_device_id(ElementContext& context, const Instruction&, const Index&, std::span<NodeId> leaves) {
  leaves[0] = context.nest.integer(ElementType::kU32, 0);
}

/// A literal may be cropped if its elements are equal, count along a dimension, or can't be indices.
void extents_of_constant(ExtentRelater& r) {
  const Instruction& i = r.instruction();
  const auto& value = i.as<ConstantAttributes>().value;
  if (!i.shape.is_array() || i.shape.rank() == 0) return;
  const bool same = value && value->known() && r.all().is_same_everywhere(i);
  for (size_t d = 0; d < i.shape.dims.size(); ++d) {
    const bool says_places = is_integral(i.shape.type) && !same && !r.all().counts_along(i, static_cast<int64_t>(d));
    if (!value || !value->known() || (says_places && i.shape.type != ElementType::kPred)) {
      r.freeze(r.mine(d), "the shape of a literal constant");
    } else if (!same) {
      r.relate(ExtentSum(r.mine(d), -i.shape.dims[d]), "a literal constant has no more elements", true);
    }
  }
}

}  // namespace

const OpRule kParameterRule{.read = read_parameter,
                            .print = print_parameter,
                            .slicing = kNotSliced,
                            .extents = free_extents,
                            .reads = reads_anywhere,
                            .arithmetic = kOneOperation};
const OpRule kConstantRule{.read = read_constant,
                           .print = print_constant,
                           .infer = infer_constant,
                           .eval = eval_constant,
                           .element = element_constant,
                           .has_element = is_splat,
                           .slicing = kNotSliced,
                           .extents = extents_of_constant,
                           .reads = reads_anywhere,
                           .arithmetic = kQuarterOperation};
const OpRule kPartitionIdRule{.infer = infer_device_id,
                              .eval = eval_device_id,
                              .element = element_device_id,
                              .slicing = kNotSliced,
                              .extents = unknown_extents,
                              .reads = reads_anywhere,
                              .arithmetic = kOneOperation};
const OpRule kReplicaIdRule{.infer = infer_device_id,
                            .eval = eval_device_id,
                            .element = element_device_id,
                            .slicing = kNotSliced,
                            .extents = unknown_extents,
                            .reads = reads_anywhere,
                            .arithmetic = kOneOperation};

}  // namespace lowtide::engine
