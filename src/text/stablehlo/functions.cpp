// Builds chlo's functions for which HLO has no operation, as arithmetic.
#include <array>
#include <cstring>
#include <limits>

#include "text/stablehlo/arithmetic.h"
#include "text/stablehlo/dense.h"
#include "text/stablehlo/operations.h"
#include "text/stablehlo/special_functions.h"

namespace lowtide::engine {
namespace {

using Made = Result<Instruction*>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Made make_square(Arithmetic& a, const Instructions& operands) {
  const Term x = a.of(operands[0]);
  return (x * x).array;
}

Made make_conj(Arithmetic& a, const Instructions& operands) {
  const Term x = a.of(operands[0]);
  if (!is_complex(x.type())) return x.array;
  return a.binary(Opcode::kComplex, a.unary(Opcode::kReal, x), -a.unary(Opcode::kImag, x)).array;
}

Made make_is_inf(Arithmetic& a, const Instructions& operands) { return (abs(a.of(operands[0])) == kInfinity).array; }
Made make_is_pos_inf(Arithmetic& a, const Instructions& operands) { return (a.of(operands[0]) == kInfinity).array; }
Made make_is_neg_inf(Arithmetic& a, const Instructions& operands) { return (a.of(operands[0]) == -kInfinity).array; }

Made make_constant_like(Arithmetic& a, const Instructions& operands) {
  const MlirValues& values = a.maker().values();
  const auto value = values.find(a.operation().attributes, "value");
  if (!value) return a.maker().fault(a.operation().place, "chlo.constant_like: expected 'value'");
  MlirAttribute number = *value;  // 1.0 : f32
  number.text = number.text.substr(0, number.text.find(" :"));
  const Term like = a.of(operands[0]);
  LT_ASSIGN_OR_RETURN(const Dense dense,
                      read_dense(number, Shape::scalar(like.type()), a.maker().source(), a.maker().syntax()));
  uint64_t bits[2] = {};
  std::memcpy(bits, dense.value->bytes().data(), std::min(dense.value->bytes().size(), sizeof bits));
  return a.integer(bits[0], like).array;
}

/// The neighbour of x towards y: unless x is 0, its bits as an integer plus or minus 1.
Made make_next_after(Arithmetic& a, const Instructions& operands) {
  if (operands.size() != 2) return a.maker().fault(a.operation().place, "chlo.next_after: expected two operands");
  const Term x = a.of(operands[0]), y = a.of(operands[1]);
  const int bits = type_bits(x.type());
  if (!is_floating(x.type()) || bits < 8) return a.maker().unsupported(a.operation().place, "next_after of this type");
  const ElementType integers = bits == 64   ? ElementType::kU64
                               : bits == 32 ? ElementType::kU32
                               : bits == 16 ? ElementType::kU16
                                            : ElementType::kU8;
  const uint64_t sign = uint64_t{1} << (bits - 1);
  const Term p = a.bitcast(x, integers), q = a.bitcast(y, integers);
  const auto equal = [&](const Term& s, const Term& t) { return a.compare("EQ", s, t); };
  const Term zero = a.integer(0, p), sign_bit = a.integer(sign, p), magnitude = a.integer(sign - 1, p);
  const Term px = a.binary(Opcode::kAnd, p, magnitude), qy = a.binary(Opcode::kAnd, q, magnitude);
  const Term other_sign = a.compare("NE", a.binary(Opcode::kAnd, p, sign_bit), a.binary(Opcode::kAnd, q, sign_bit));
  const Term shrinks = a.binary(Opcode::kOr, a.compare("GT", px, qy), other_sign);
  const Term one = a.integer(1, p);
  const Term stepped = a.select(shrinks, p - one, p + one);
  const Term from_zero = a.binary(Opcode::kOr, a.binary(Opcode::kAnd, q, sign_bit), one);
  const Term to_zero_or_same = a.select(equal(qy, zero), q, from_zero);
  const Term result = a.select(equal(px, zero), to_zero_or_same, a.select(equal(p, q), p, stepped));
  const Term unordered = a.binary(Opcode::kOr, a.compare("NE", x, x), a.compare("NE", y, y));
  return a.select(unordered, x + y, a.bitcast(result, x.type())).array;
}

/// Types narrower than f32 are computed in f32 and rounded once.
template <Term (*kFunction)(const Term&)>
Made in_wide(Arithmetic& a, const Instructions& operands) {
  const Term x = a.of(operands[0]);
  if (!is_floating(x.type())) return a.maker().unsupported(a.operation().place, "this function of this type");
  const ElementType wide = x.type() == ElementType::kF64 ? ElementType::kF64 : ElementType::kF32;
  return a.convert(kFunction(a.convert(x, wide)), x.type()).array;
}

template <Term (*kFunction)(const Term&, const Term&)>
Made in_wide_of_two(Arithmetic& a, const Instructions& operands) {
  if (operands.size() != 2) return a.maker().fault(a.operation().place, "expected two operands");
  const Term x = a.of(operands[0]), y = a.of(operands[1]);
  if (!is_floating(x.type())) return a.maker().unsupported(a.operation().place, "this function of this type");
  const ElementType wide = x.type() == ElementType::kF64 ? ElementType::kF64 : ElementType::kF32;
  return a.convert(kFunction(a.convert(x, wide), a.convert(y, wide)), x.type()).array;
}

}  // namespace

MakeFunction function_named(std::string_view name) {
  static const std::unordered_map<std::string_view, MakeFunction> kFunctions = {
      {"square", make_square},           {"conj", make_conj},
      {"is_inf", make_is_inf},           {"is_pos_inf", make_is_pos_inf},
      {"is_neg_inf", make_is_neg_inf},   {"constant_like", make_constant_like},
      {"next_after", make_next_after},   {"erf_inv", in_wide<erf_inv_of>},
      {"erfc", in_wide<erfc_of>},        {"lgamma", in_wide<lgamma_of>},
      {"digamma", in_wide<digamma_of>},  {"bessel_i1e", in_wide<bessel_i1e_of>},
      {"zeta", in_wide_of_two<zeta_of>}, {"polygamma", in_wide_of_two<polygamma_of>},
  };
  const auto found = kFunctions.find(name);
  return found == kFunctions.end() ? nullptr : found->second;
}

}  // namespace lowtide::engine
