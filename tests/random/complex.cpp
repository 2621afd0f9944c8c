/// Complex numbers. A fact bounds each part of them, and each part's error.

#include <algorithm>
#include <cmath>
#include <numbers>

#include "families.h"
#include "numbers.h"
#include "operations.h"

namespace lowtide::engine {
namespace {

using std::numbers::sqrt2;

constexpr double kRoundings = 8;  ///< of a division, however it is scaled

/// Every part lies in [-magnitude, magnitude].
Fact around_zero(double magnitude, double error) { return interval(-magnitude, magnitude, error); }

/// No element is nearer to zero: each part's bounds are the same.
double least_distance(const Fact& a) { return sqrt2 * std::max({0.0, a.low - a.error, -a.high - a.error}); }

Maybe quotient(const Shape& shape, const Fact& a, const Fact& b) {
  const double least = least_distance(b);
  if (least < 0.05) return {};
  const double size = sqrt2 * a.magnitude() / least;
  return rounded(shape, around_zero(size, sqrt2 * (a.error + size * b.error) / least), kRoundings);
}

Maybe exponential(const Shape& shape, const Fact& a) {
  if (a.high > 9 || a.magnitude() > 30) return {};
  const double size = std::exp(a.high);
  return rounded(shape, around_zero(size, 2 * sqrt2 * size * a.error),
                 transcendental_roundings(shape.type) * (1 + a.magnitude()));
}

Instruction* part(Scope& scope, Opcode which, Instruction* z, bool choosable = true) {
  const bool single = z->shape.type == ElementType::kC64;
  return scope.append(which, with_type(z->shape, single ? ElementType::kF32 : ElementType::kF64), {z}, {}, {},
                      choosable);
}

bool make_conjugate(Scope& scope, Instruction* z) {
  Instruction* real = part(scope, Opcode::kReal, z, false);
  Instruction* imaginary = part(scope, Opcode::kImag, z, false);
  if (!imaginary) return false;
  Instruction* negated = scope.append(Opcode::kNegate, imaginary->shape, {imaginary}, {}, {}, false);
  return scope.append(Opcode::kComplex, z->shape, {real, negated}) != nullptr;
}

}  // namespace

Fact complex_product(const Fact& a, const Fact& b) {
  const Fact one = product(a, b);
  return either(sum(one, negated(one)), sum(one, one));
}

Maybe fact_of_complex(const Instruction& i, const Facts& operands) {
  const Fact& a = operands[0];
  switch (i.opcode) {
    case Opcode::kComplex: return either(a, operands[1]);
    case Opcode::kReal:
    case Opcode::kImag: return a;
    case Opcode::kNegate: return negated(a);
    case Opcode::kAbs: return rounded(i.shape, interval(0, sqrt2 * a.magnitude(), sqrt2 * a.error), kRoundings);
    case Opcode::kAdd: return rounded(i.shape, sum(a, operands[1]));
    case Opcode::kSubtract: return rounded(i.shape, sum(a, negated(operands[1])));
    case Opcode::kMultiply: return rounded(i.shape, complex_product(a, operands[1]), 3);
    case Opcode::kDivide: return quotient(i.shape, a, operands[1]);
    case Opcode::kExponential: return exponential(i.shape, a);
    default: return {};
  }
}

bool make_complex_unary(Scope& scope, Draws& choices, Instruction* operand) {
  switch (choices.below(7)) {
    case 0: return part(scope, Opcode::kReal, operand) != nullptr;
    case 1: return part(scope, Opcode::kImag, operand) != nullptr;
    case 2: return part(scope, Opcode::kAbs, operand) != nullptr;
    case 3: return make_conjugate(scope, operand);
    case 4: return scope.append(Opcode::kExponential, operand->shape, {operand}) != nullptr;
    case 5: return scope.append(Opcode::kCopy, operand->shape, {operand}) != nullptr;
    default: return scope.append(Opcode::kNegate, operand->shape, {operand}) != nullptr;
  }
}

bool make_complex_binary(Scope& scope, Draws& choices, Instruction* a) {
  constexpr Opcode kOperations[] = {Opcode::kAdd, Opcode::kSubtract, Opcode::kMultiply, Opcode::kMultiply,
                                    Opcode::kDivide};
  return scope.append(choices.of(kOperations), a->shape, {a, value_of_shape(scope, choices, a->shape)}) != nullptr;
}

bool make_complex(Scope& scope, Draws& choices) {
  Instruction* operand = scope.choose(choices, [](const auto& e) {
    const ElementType type = e.instruction->shape.type;
    return type == ElementType::kF32 || type == ElementType::kF64 || is_complex(type);
  });
  if (!operand) return false;
  const ElementType type = operand->shape.type;
  if (is_complex(type)) return make_complex_unary(scope, choices, operand);
  const Shape result = with_type(operand->shape, type == ElementType::kF32 ? ElementType::kC64 : ElementType::kC128);
  if (choices.one_in(4)) return scope.append(Opcode::kConvert, result, {operand}) != nullptr;
  return scope.append(Opcode::kComplex, result, {operand, value_of_shape(scope, choices, operand->shape)}) != nullptr;
}

}  // namespace lowtide::engine
