/// Hyperbolic functions, and the inverse ones, each where it is well-conditioned.

#include <cmath>

#include "families.h"
#include "numbers.h"
#include "operations.h"

namespace lowtide::engine {
namespace {

struct WithInverse {
  Opcode operation;
  double low, high;  ///< arguments
};
constexpr WithInverse kFunctions[] = {{Opcode::kAcos, -0.875, 0.875}, {Opcode::kAcosh, 1.25, 100},
                                      {Opcode::kAsin, -0.875, 0.875}, {Opcode::kAsinh, -100, 100},
                                      {Opcode::kAtan, -100, 100},     {Opcode::kAtanh, -0.875, 0.875},
                                      {Opcode::kCosh, -8, 8},         {Opcode::kSinh, -8, 8}};

}  // namespace

Maybe fact_of_inverse(Opcode op, const Shape& shape, const Fact& a) {
  const double most = a.magnitude() + a.error, least = a.low - a.error;
  switch (op) {
    case Opcode::kAcos:
      if (most > 0.9) return {};
      return monotone(shape, a, std::acos, 1 / std::sqrt(1 - most * most));
    case Opcode::kAsin:
      if (most > 0.9) return {};
      return monotone(shape, a, std::asin, 1 / std::sqrt(1 - most * most));
    case Opcode::kAcosh:
      if (least < 1.1) return {};
      return monotone(shape, a, std::acosh, 1 / std::sqrt(least * least - 1));
    case Opcode::kAsinh: return monotone(shape, a, std::asinh, 1);
    case Opcode::kAtan: return monotone(shape, a, std::atan, 1);
    case Opcode::kAtanh:
      if (most > 0.9) return {};
      return monotone(shape, a, std::atanh, 1 / (1 - most * most));
    case Opcode::kSinh:
      if (most > 9) return {};
      return monotone(shape, a, std::sinh, std::cosh(most));
    case Opcode::kCosh:
      if (most > 9) return {};
      return rounded(shape, interval(1, std::cosh(most), std::sinh(most) * a.error),
                     transcendental_roundings(shape.type));
    default: return {};
  }
}

bool make_inverse(Scope& scope, Draws& choices) {
  Instruction* operand = scope.choose(choices, [&](const auto& e) {
    const ElementType type = e.instruction->shape.type;
    return is_floating(type) && (!scope.for_xla() || type == ElementType::kBF16);
  });
  if (!operand) return false;
  const auto& [operation, low, high] = choices.of(kFunctions);
  if (scope.for_xla() && operation == Opcode::kAtan) return false;
  const ElementType type = operand->shape.type;
  if (scope.fact(operand).low < low || scope.fact(operand).high > high) {
    Instruction *least = scope.constant(type, low), *greatest = scope.constant(type, high);
    operand = scope.append(Opcode::kClamp, operand->shape, {least, operand, greatest}, {}, {}, false);
  }
  return scope.append(operation, operand->shape, {operand}) != nullptr;
}

}  // namespace lowtide::engine
