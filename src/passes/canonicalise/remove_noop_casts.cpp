#include "passes/canonicalise/remove_noop_casts.h"

#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

/// Bits of an integer that a float of this type holds exactly; 0 for the types with fewer than eight.
int exact_integer_bits(ElementType type) {
  switch (type) {
    case ElementType::kBF16: return 8;
    case ElementType::kF16: return 11;
    case ElementType::kF32: return 24;
    case ElementType::kF64: return 53;
    default: return 0;
  }
}

bool float_holds_float(ElementType wide, ElementType narrow) {
  if (narrow == ElementType::kF8E8M0FNU) return wide == ElementType::kF64;
  if (type_bits(narrow) <= 8) return exact_integer_bits(wide) > 0;
  if (narrow == ElementType::kF16 || narrow == ElementType::kBF16) return type_bits(wide) >= 32;
  return narrow == ElementType::kF32 && wide == ElementType::kF64;
}

}  // namespace

bool holds_all_values(ElementType wide, ElementType narrow) {
  if (wide == narrow) return true;
  if (wide == ElementType::kF8E8M0FNU) return false;  // it has no zero
  const TypeKind to = type_kind(wide), from = type_kind(narrow);
  if (from == TypeKind::kPredicate) return to == TypeKind::kUnsigned || type_bits(wide) >= 2;
  const bool from_integer = from == TypeKind::kSigned || from == TypeKind::kUnsigned;
  if (to == TypeKind::kFloat) {
    if (!from_integer) return from == TypeKind::kFloat && float_holds_float(wide, narrow);
    // The most negative integer is a power of two: a sign bit costs nothing.
    return type_bits(narrow) - (from == TypeKind::kSigned ? 1 : 0) <= exact_integer_bits(wide);
  }
  if (to == TypeKind::kComplex) return wide == ElementType::kC128 && narrow == ElementType::kC64;
  if (to == from) return type_bits(wide) >= type_bits(narrow);
  return to == TypeKind::kSigned && from == TypeKind::kUnsigned && type_bits(wide) > type_bits(narrow);
}

namespace {

/// The value before an exact detour: x of convert_U(x) with U ⊇ T. The convert itself if there is no detour.
Instruction* before_detour(Instruction* value, const std::vector<bool>& fixed) {
  if (value->opcode != Opcode::kConvert || fixed[value->id]) return value;
  Instruction* inner = value->operands[0];
  const bool exact = holds_all_values(value->shape.type, inner->shape.type);
  return exact && value->shape.dynamic == inner->shape.dynamic && same_layout(value->shape, inner->shape) ? inner
                                                                                                          : value;
}

/// Does the convert saturate where a direct one would wrap: u8 200 is s8 127 by way of f32, and -56 directly?
bool saturates(const Instruction& convert, const Shape& from) {
  return is_floating(convert.operand(0).shape.type) && is_integral(from.type) && is_integral(convert.shape.type) &&
         !holds_all_values(convert.shape.type, from.type);
}

}  // namespace

Result<PassResult> remove_noop_casts(Module& module) {
  std::vector<bool> fixed = ordered_instructions(module);
  if (is_partitioned(module)) {
    for (const auto& computation : module.computations()) {
      for (const auto& i : computation->instructions()) {
        if (i->sharding) fixed[i->id] = true;
      }
    }
  }
  Replacements replacements(module);
  int64_t detours = 0;
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      replacements.apply_to(*i);
      if (i->opcode != Opcode::kConvert || fixed[i->id]) continue;
      Instruction* from = before_detour(i->operands[0], fixed);
      if (saturates(*i, from->shape)) continue;
      if (interchangeable(from->shape, i->shape)) {
        replacements.replace(*i, *from);
      } else if (from != i->operands[0]) {
        i->operands[0] = from;
        ++detours;
      }
    }
    replacements.finish(*computation);
  }
  return rewritten(replacements.count() + detours, "casts removed or detours shortened");
}

}  // namespace lowtide::engine
