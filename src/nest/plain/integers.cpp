#include "nest/plain/integers.h"

namespace lowtide::engine {
namespace {

ElementType integer_of(int bits, bool is_signed) {
  switch (bits) {
    case 8: return is_signed ? ElementType::kS8 : ElementType::kU8;
    case 16: return is_signed ? ElementType::kS16 : ElementType::kU16;
    case 32: return is_signed ? ElementType::kS32 : ElementType::kU32;
    default: return is_signed ? ElementType::kS64 : ElementType::kU64;
  }
}

/// The bits of the number, without the sign extension above them.
Plain natural(ElementType type, Plain a) {
  const Plain bits = a.as(unsigned_like(a.type()));
  return type_bits(type) < 8 ? bits & ((1 << type_bits(type)) - 1) : bits;
}

/// The quotient for a divisor other than 0 and -1. Quotients of up to 32 bits are truncated correctly in the next wider
/// float: one that isn't an integer differs from integers by at least one part in 2^32.
Plain plain_quotient(Plain a, Plain b) {
  if (b.is_constant() || a.width() == 64) return a / b;
  const ElementType wide = a.width() == 32 ? ElementType::kF64 : ElementType::kF32;
  const ElementType between = integer_of(32, a.is_signed());
  return (a.to(between).to(wide) / b.to(between).to(wide)).to(between).to(a.type());
}

/// Quotient and remainder, with HLO's values where C has none.
Plain divided(Plain a, Plain b, bool want_remainder) {
  const Plain zero = b == 0;
  Plain odd = zero;
  if (a.is_signed()) odd = odd | (b == -1);
  const Plain divisor = select(odd, 1, b);
  if (want_remainder) {
    const Plain rest = b.is_constant() || a.width() == 64 ? a.apply(Opcode::kRemainder, divisor)
                                                          : a - plain_quotient(a, divisor) * divisor;
    return select(zero, a, rest);  // a divisor of -1 leaves none, like 1
  }
  const Plain quotient = plain_quotient(a, divisor);
  const Plain all_ones = a.integer(-1);
  if (!a.is_signed()) return select(zero, all_ones, quotient);
  return select(zero, all_ones, select(odd, -a, quotient));
}

Plain shifted(Opcode opcode, ElementType type, Plain a, Plain count) {
  const int width = type_bits(type);
  if (opcode == Opcode::kShiftRightLogical) a = natural(type, a);
  if (opcode == Opcode::kShiftRightArithmetic && !a.is_signed()) {  // the highest bit is the sign here
    a = (width < 8 ? a << (8 - width) : a).as(integer_of(a.width(), true));
    if (width < 8) a = shift_right_arithmetic(a, 8 - width);
  }
  const Plain amount = count.as(a.type());
  const Plain in_range = count.as(unsigned_like(count.type())) < width;
  if (opcode == Opcode::kShiftRightArithmetic) {
    return a.apply(opcode, select(in_range, amount, width - 1));
  }
  return select(in_range, a.apply(opcode, amount), 0);
}

/// The upper half of a product.
Plain high_half(ElementType type, Plain a, Plain b) {
  const int width = type_bits(type);
  if (width <= 32) {
    const ElementType wide = width <= 8 ? integer_of(16, a.is_signed()) : integer_of(2 * width, a.is_signed());
    const Plain product = a.to(wide) * b.to(wide);
    return product
        .apply(a.is_signed() ? Opcode::kShiftRightArithmetic : Opcode::kShiftRightLogical, product.integer(width))
        .to(a.type());
  }
  const Plain u = a.as(ElementType::kU64), v = b.as(ElementType::kU64);
  const int64_t mask = 0xffffffff;
  const Plain cross = shift_right_logical(u, 32) * (v & mask) + shift_right_logical((u & mask) * (v & mask), 32);
  const Plain other = (u & mask) * shift_right_logical(v, 32) + (cross & mask);
  Plain high = shift_right_logical(u, 32) * shift_right_logical(v, 32) + shift_right_logical(cross, 32) +
               shift_right_logical(other, 32);
  if (a.is_signed()) high = high - select(a < 0, v, 0) - select(b < 0, u, 0);
  return high.as(a.type());
}

/// By repeated squaring; a negative exponent gives the reciprocal, truncated.
Plain integer_power(ElementType type, Plain x, Plain y) {
  Plain result = x.integer(1), square = x;
  const int bits = type_bits(type) - (y.is_signed() ? 1 : 0);
  for (int i = 0; i < bits; ++i) {
    const Plain bit = shift_right_logical(y, i) & 1;
    result = select(bit != 0, result * square, result);
    if (i + 1 < bits) square = square * square;
  }
  if (!y.is_signed()) return result;
  const Plain odd = (y & 1) != 0;
  const Plain reciprocal = select(x == 1, 1, select(x == -1, select(odd, x, 1), 0));
  return select(y < 0, reciprocal, result);
}

}  // namespace

ElementType held_integer(ElementType type) {
  return integer_of(std::max(type_bits(type), 8), type_kind(type) == TypeKind::kSigned);
}

ElementType unsigned_like(ElementType type) { return integer_of(type_bits(type), false); }

Plain wrapped(ElementType type, Plain held) {
  const int bits = type_bits(type);
  if (bits >= 8) return held.as(held_integer(type));
  if (type_kind(type) == TypeKind::kUnsigned) return (held & ((1 << bits) - 1)).as(ElementType::kU8);
  return shift_right_arithmetic((held << (8 - bits)).as(ElementType::kS8), 8 - bits);
}

Plain integer_operation(Opcode opcode, ElementType type, Plain a, Plain b) {
  switch (opcode) {
    case Opcode::kDivide: return wrapped(type, divided(a, b, false));
    case Opcode::kRemainder: return wrapped(type, divided(a, b, true));
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightArithmetic:
    case Opcode::kShiftRightLogical: return wrapped(type, shifted(opcode, type, a, b));
    case Opcode::kMulhi: return wrapped(type, high_half(type, a, b));
    case Opcode::kPower: return wrapped(type, integer_power(type, a, b));
    default: return wrapped(type, a.apply(opcode, b));
  }
}

Plain integer_operation(Opcode opcode, ElementType type, Plain a) {
  const bool is_signed = a.is_signed();
  switch (opcode) {
    case Opcode::kNegate: return wrapped(type, -a);
    case Opcode::kAbs: return is_signed ? wrapped(type, select(a < 0, -a, a)) : a;
    case Opcode::kSign: {
      const Plain positive = select(a > 0, a.integer(1), 0);
      return wrapped(type, is_signed ? select(a < 0, -1, positive) : positive);
    }
    case Opcode::kPopcnt: return wrapped(type, natural(type, a).apply(opcode));
    case Opcode::kCountLeadingZeros: {
      const Plain count = natural(type, a).apply(opcode);
      return wrapped(type, count - (count.width() - type_bits(type)));
    }
    default: return wrapped(type, a.apply(opcode));
  }
}

Plain integer_from_float(ElementType type, Plain x) {
  const ElementType held = held_integer(type);
  const int bits = type_bits(type);
  const bool is_signed = type_kind(type) == TypeKind::kSigned;
  const int digits = is_signed ? bits - 1 : bits;
  const double beyond = std::ldexp(1.0, digits), least = is_signed ? -beyond : 0.0;
  const ElementType between = integer_of(std::max(bits, 32), is_signed);
  const Plain in_range = (x > least) & (x < beyond);
  const Plain cut = select(in_range, x, 0.0).to(between).to(held);
  const auto highest = static_cast<int64_t>(digits == 0 ? 0 : ~uint64_t{0} >> (64 - digits));
  const int64_t lowest = is_signed ? ~highest : 0;
  return select(x >= beyond, highest, select(x <= least, lowest, cut));
}

Plain float_from_integer(ElementType type, Plain integer) {
  return integer.to(integer_of(std::max(integer.width(), 32), integer.is_signed())).to(type);
}

}  // namespace lowtide::engine
