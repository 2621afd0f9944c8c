#include "nest/plain/fold.h"

#include <bit>
#include <cmath>

#include "base/denormals.h"

namespace lowtide::engine {
namespace {

using Bits = std::array<uint64_t, 2>;

template <class F>
F number_of(const Node& constant) {
  if constexpr (sizeof(F) == 4) {
    return std::bit_cast<F>(static_cast<uint32_t>(constant.bits[0]));
  } else {
    return std::bit_cast<F>(constant.bits[0]);
  }
}
Bits bits_of(float x) { return {std::bit_cast<uint32_t>(x), 0}; }
Bits bits_of(double x) { return {std::bit_cast<uint64_t>(x), 0}; }

/// Not inlined: the compiler may move arithmetic to before the caller's DenormalsScope, whose effect it doesn't know.
template <class F>
[[gnu::noinline]] std::optional<Bits> fold_floats(const Node& operation, std::span<const Node* const> operands) {
  const F a = number_of<F>(*operands[0]);
  const F b = operands.size() > 1 ? number_of<F>(*operands[1]) : a;
  switch (operation.opcode) {
    case Opcode::kAdd: return bits_of(a + b);
    case Opcode::kSubtract: return bits_of(a - b);
    case Opcode::kMultiply: return bits_of(a * b);
    case Opcode::kDivide: return bits_of(a / b);
    case Opcode::kSqrt: return bits_of(std::sqrt(a));
    case Opcode::kNegate: return bits_of(-a);
    case Opcode::kAbs: return bits_of(std::fabs(a));
    case Opcode::kFloor: return bits_of(std::floor(a));
    case Opcode::kCeil: return bits_of(std::ceil(a));
    case Opcode::kRoundNearestEven: return bits_of(std::nearbyint(a));
    case Opcode::kCompare: {
      if (operation.compare.type == CompareType::kTotalOrder) return {};
      const CompareDirection d = operation.compare.direction;
      const bool holds = d == CompareDirection::kEq   ? a == b
                         : d == CompareDirection::kNe ? a != b
                         : d == CompareDirection::kGe ? a >= b
                         : d == CompareDirection::kGt ? a > b
                         : d == CompareDirection::kLe ? a <= b
                                                      : a < b;
      return Bits{holds, 0};
    }
    case Opcode::kConvert:
      if (operation.type == ElementType::kF32) return bits_of(static_cast<float>(a));
      if (operation.type == ElementType::kF64) return bits_of(static_cast<double>(a));
      return {};
    default: return {};
  }
}

}  // namespace

std::optional<Bits> fold_plain(const Node& operation, std::span<const Node* const> operands) {
  const ElementType type = operands[0]->type;
  if (operation.opcode == Opcode::kBitcastConvert && type_bits(type) == type_bits(operation.type)) {
    if (type_kind(operation.type) == TypeKind::kFloat || is_integral(operation.type)) return operands[0]->bits;
  }
  const DenormalsScope flushed(Denormals::kFlushed);  // as in the loop that would compute it
  if (type == ElementType::kF32) return fold_floats<float>(operation, operands);
  if (type == ElementType::kF64) return fold_floats<double>(operation, operands);
  return {};
}

}  // namespace lowtide::engine
