#pragma once
/// Operators that make plain nodes (nest/legalise.h), so that the expansions of operations read as arithmetic.

#include <initializer_list>
#include <optional>

#include "nest/plain/facts.h"

namespace lowtide::engine {

/// A node and the builder that made it. Operators make plain nodes; both operands have one type. A C++ number on the
/// right becomes a constant of the left operand's type.
struct Plain {
  PlainNest* nest = nullptr;
  NodeId id = kNoId;
  bool straight = false;  ///< loops aren't allowed: in functions of reductions

  Plain with(NodeId other) const { return {nest, other, straight}; }
  const Node& node() const { return nest->node(id); }
  ElementType type() const { return node().type; }
  int width() const { return type_bits(type()); }
  bool is_constant() const { return node().kind == NodeKind::kConstant; }
  bool is_signed() const { return type_kind(type()) == TypeKind::kSigned; }

  Plain constant(double value) const { return with(nest->number(type(), value)); }
  Plain integer(ElementType integer_type, int64_t value) const { return with(nest->integer(integer_type, value)); }
  Plain integer(int64_t value) const { return integer(type(), value); }
  Plain number(ElementType number_type, double value) const { return with(nest->number(number_type, value)); }
  Plain truth(bool value) const { return integer(ElementType::kPred, value); }
  Plain bits(uint64_t value) const { return with(nest->constant(type(), {value, 0})); }  ///< of the stored element
  /// The operation's node, or an existing one that is known to have the same value.
  Plain apply(Opcode opcode, ElementType result, std::initializer_list<NodeId> operands) const;
  Plain apply(Opcode opcode) const { return apply(opcode, type(), {id}); }
  Plain apply(Opcode opcode, Plain other) const { return apply(opcode, type(), {id, other.id}); }

  Plain to(ElementType other) const;  ///< converted
  /// The same bits as another type.
  Plain as(ElementType other) const {
    if (other == type()) return *this;
    if (node().opcode == Opcode::kBitcastConvert) return with(node().operands[0]).as(other);
    return apply(Opcode::kBitcastConvert, other, {id});
  }
};

/// The value of a constant f32 or f64 that is no NaN.
std::optional<double> known_number(Plain x);

/// The number as a constant of x's type.
template <class Number>
Plain constant_like(Plain x, Number value) {
  if constexpr (std::is_integral_v<Number>) {
    if (!is_floating(x.type())) return x.integer(static_cast<int64_t>(value));
  }
  return x.constant(static_cast<double>(value));
}

#define LT_PLAIN_OPERATOR(symbol, code)                                               \
  inline Plain operator symbol(Plain a, Plain b) { return a.apply(Opcode::code, b); } \
  template <class Number>                                                             \
    requires std::is_arithmetic_v<Number>                                             \
  Plain operator symbol(Plain a, Number b) {                                          \
    return a.apply(Opcode::code, constant_like(a, b));                                \
  }                                                                                   \
  template <class Number>                                                             \
    requires std::is_arithmetic_v<Number>                                             \
  Plain operator symbol(Number a, Plain b) {                                          \
    return constant_like(b, a).apply(Opcode::code, b);                                \
  }
LT_PLAIN_OPERATOR(+, kAdd)
LT_PLAIN_OPERATOR(-, kSubtract)
LT_PLAIN_OPERATOR(*, kMultiply)
LT_PLAIN_OPERATOR(/, kDivide)
LT_PLAIN_OPERATOR(&, kAnd)
LT_PLAIN_OPERATOR(|, kOr)
LT_PLAIN_OPERATOR(^, kXor)
LT_PLAIN_OPERATOR(<<, kShiftLeft)
#undef LT_PLAIN_OPERATOR

/// A comparison; a constant if facts decide it.
Plain compare(CompareDirection direction, Plain a, Plain b);

#define LT_PLAIN_COMPARISON(symbol, way)                                                          \
  inline Plain operator symbol(Plain a, Plain b) { return compare(CompareDirection::way, a, b); } \
  template <class Number>                                                                         \
    requires std::is_arithmetic_v<Number>                                                         \
  Plain operator symbol(Plain a, Number b) {                                                      \
    return a symbol constant_like(a, b);                                                          \
  }
LT_PLAIN_COMPARISON(==, kEq)
LT_PLAIN_COMPARISON(!=, kNe)
LT_PLAIN_COMPARISON(<, kLt)
LT_PLAIN_COMPARISON(<=, kLe)
LT_PLAIN_COMPARISON(>, kGt)
LT_PLAIN_COMPARISON(>=, kGe)
#undef LT_PLAIN_COMPARISON

/// Negates numbers; `!` negates predicates.
inline Plain operator-(Plain a) {
  return is_floating(a.type()) ? a.apply(Opcode::kNegate) : a.integer(0).apply(Opcode::kSubtract, a);
}
inline Plain operator!(Plain a) { return a.apply(Opcode::kNot); }
inline Plain operator~(Plain a) { return a.apply(Opcode::kNot); }
inline Plain shift_right_logical(Plain a, int64_t count) {
  return a.apply(Opcode::kShiftRightLogical, a.integer(count));
}
inline Plain shift_right_arithmetic(Plain a, int64_t count) {
  return a.apply(Opcode::kShiftRightArithmetic, a.integer(count));
}

inline Plain select(Plain predicate, Plain then, Plain otherwise) {
  return then.with(then.nest->select(predicate.id, then.id, otherwise.id));
}
template <class Number>
  requires std::is_arithmetic_v<Number>
Plain select(Plain predicate, Number then, Plain otherwise) {
  return select(predicate, constant_like(otherwise, then), otherwise);
}
template <class Number>
  requires std::is_arithmetic_v<Number>
Plain select(Plain predicate, Plain then, Number otherwise) {
  return select(predicate, then, constant_like(then, otherwise));
}

/// a * b + c, rounded once.
inline Plain fma(Plain a, Plain b, Plain c) { return a.with(a.nest->fma(a.id, b.id, c.id)); }
inline Plain fma(Plain a, double b, Plain c) { return fma(a, a.constant(b), c); }
inline Plain fma(Plain a, Plain b, double c) { return fma(a, b, a.constant(c)); }
inline Plain fma(Plain a, double b, double c) { return fma(a, a.constant(b), a.constant(c)); }

/// c[0] + c[1] x + c[2] x^2 + ... by Horner's rule.
Plain polynomial(Plain x, std::span<const double> coefficients);
inline Plain polynomial(Plain x, std::initializer_list<double> coefficients) {
  return polynomial(x, std::span(coefficients.begin(), coefficients.size()));
}

inline Plain absolute(Plain x) { return x.apply(Opcode::kAbs); }
inline Plain square_root(Plain x) { return x.apply(Opcode::kSqrt); }
inline Plain is_nan(Plain x) { return x != x; }
/// The smaller or larger of two numbers, neither of them NaN, in one instruction; the second if they are equal.
inline Plain smaller(Plain a, Plain b) { return select(a < b, a, b); }
inline Plain larger(Plain a, Plain b) { return select(a > b, a, b); }

/// The signed integer type of a float's width.
inline ElementType signed_like(ElementType type) {
  return type_bits(type) == 64 ? ElementType::kS64 : ElementType::kS32;
}
inline Plain bits_of(Plain x) { return x.as(signed_like(x.type())); }
inline ElementType float_like(ElementType type) {
  return type_bits(type) == 64 ? ElementType::kF64 : ElementType::kF32;
}
/// magnitude with the sign of another float.
Plain with_sign_of(Plain magnitude, Plain sign);
inline Plain sign_bit(Plain x) { return bits_of(x) < 0; }

/// 2^n for a (signed) integer n of a float's width, if 2^n is a normal number.
Plain power_of_two(Plain n);
/// x * 2^n, rounded once if it is denormal; |x| in [1/4, 4], any n within twice the exponent's range.
Plain scaled(Plain x, Plain n);

inline double infinity() { return std::numeric_limits<double>::infinity(); }
inline double not_a_number() { return std::numeric_limits<double>::quiet_NaN(); }

}  // namespace lowtide::engine
