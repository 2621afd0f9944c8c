#include "ops/bit_elements.h"

namespace lowtide::engine {
namespace {

ElementType unsigned_of(int bits) {
  switch (bits) {
    case 1: return ElementType::kU1;
    case 2: return ElementType::kU2;
    case 4: return ElementType::kU4;
    case 8: return ElementType::kU8;
    case 16: return ElementType::kU16;
    case 32: return ElementType::kU32;
    default: return ElementType::kU64;
  }
}

ElementType part_type(ElementType complex) {
  return complex == ElementType::kC64 ? ElementType::kF32 : ElementType::kF64;
}

/// The bits of an element of at most 64 bits as a natural number of that width.
NodeId to_bits(NestBuilder& nest, NodeId value) {
  const ElementType type = nest.node(value).type;
  const ElementType bits = unsigned_of(type_bits(type));
  if (is_integral(type) || type == ElementType::kPred) return nest.convert(value, bits);
  if (!is_complex(type)) return nest.operation(Opcode::kBitcastConvert, bits, {value});
  const NodeId parts[] = {nest.operation(Opcode::kReal, part_type(type), {value}),
                          nest.operation(Opcode::kImag, part_type(type), {value})};
  return joined_bits(nest, parts, bits);
}

NodeId from_bits(NestBuilder& nest, NodeId bits, ElementType type) {
  if (is_integral(type)) return nest.convert(bits, type);
  if (type == ElementType::kPred) {
    return nest.compare(bits, nest.integer(nest.node(bits).type, 0), {CompareDirection::kNe, CompareType::kDefault});
  }
  if (!is_complex(type)) return nest.operation(Opcode::kBitcastConvert, type, {bits});
  return nest.operation(Opcode::kComplex, type,
                        {part_of_bits(nest, bits, NestBuilder::fixed(0), part_type(type)),
                         part_of_bits(nest, bits, NestBuilder::fixed(1), part_type(type))});
}

}  // namespace

NodeId joined_bits(NestBuilder& nest, std::span<const NodeId> parts, ElementType type) {
  if (parts.size() == 1) {
    if (nest.node(parts[0]).type == type) return parts[0];
    if (type_bits(type) <= 64) return from_bits(nest, to_bits(nest, parts[0]), type);
  }
  if (type == ElementType::kC128) {
    const size_t half = parts.size() / 2;
    const NodeId re = joined_bits(nest, parts.subspan(0, half), ElementType::kF64);
    const NodeId im = joined_bits(nest, parts.subspan(half), ElementType::kF64);
    return nest.operation(Opcode::kComplex, type, {re, im});
  }
  const ElementType whole = unsigned_of(type_bits(type));
  NodeId bits = kNoId;
  for (size_t k = 0; k < parts.size(); ++k) {
    const int width = type_bits(nest.node(parts[k]).type);
    const NodeId wide = nest.convert(to_bits(nest, parts[k]), whole);
    const NodeId moved =
        nest.operation(Opcode::kShiftLeft, whole, {wide, nest.integer(whole, static_cast<int64_t>(k) * width)});
    bits = bits == kNoId ? moved : nest.operation(Opcode::kOr, whole, {bits, moved});
  }
  return from_bits(nest, bits, type);
}

NodeId part_of_bits(NestBuilder& nest, NodeId whole, const Affine& part, ElementType type) {
  const ElementType from = nest.node(whole).type;
  const int width = type_bits(type);
  if (from == ElementType::kC128) {
    const int64_t parts = 64 / width;
    const NodeId re = nest.operation(Opcode::kReal, ElementType::kF64, {whole});
    const NodeId im = nest.operation(Opcode::kImag, ElementType::kF64, {whole});
    const NodeId word = nest.select(nest.less(part, parts), to_bits(nest, re), to_bits(nest, im));
    return parts == 1 ? from_bits(nest, word, type) : part_of_bits(nest, word, nest.remainder(part, parts), type);
  }
  const NodeId bits = to_bits(nest, whole);
  const ElementType word = nest.node(bits).type;
  const NodeId by = nest.convert(nest.value_of(nest.times(part, width)), word);
  const NodeId low = nest.convert(nest.operation(Opcode::kShiftRightLogical, word, {bits, by}), unsigned_of(width));
  return from_bits(nest, low, type);
}

}  // namespace lowtide::engine
