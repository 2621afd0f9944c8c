// A table with one row per operation: its name in HLO or how it is lowered, and its derivative.
#include <cmath>

#include "arrays/golden.h"
#include "arrays/primitives.h"
#include "lowtide/ops.h"

namespace lowtide::lazy {
namespace {

using Derivative = Gradients (*)(const Backward&);
using Emit = std::vector<Term> (*)(Lowering&, const std::vector<Term>&, const Spec&);

struct Row {
  Op op;
  const char* name;
  const char* hlo;  ///< null: lowered by `emit`
  Emit emit;
  Derivative derivative;
};

/// The gradient of a unary operation: f(cotangent, x, y), where y is the result.
template <array (*F)(const array&, const array&, const array&)>
Gradients one(const Backward& at) {
  return {F(at.cotangents[0], at.inputs[0], at.outputs[0])};
}
Gradients none(const Backward& at) { return Gradients(at.inputs.size()); }
array like(const array& x, double value) { return constant(value, x.dtype()); }

template <array (*A)(const array&, const array&, const array&, const array&),
          array (*B)(const array&, const array&, const array&, const array&)>
Gradients two(const Backward& at) {
  Gradients gradients(2);
  if (at.wanted[0]) gradients[0] = A(at.cotangents[0], at.inputs[0], at.inputs[1], at.outputs[0]);
  if (at.wanted[1]) gradients[1] = B(at.cotangents[0], at.inputs[0], at.inputs[1], at.outputs[0]);
  return gradients;
}

#define LT_ONE(expression)                                          \
  one<[](const array& c, const array& x, const array& y) -> array { \
    (void)c;                                                        \
    (void)x;                                                        \
    (void)y;                                                        \
    return expression;                                              \
  }>
#define LT_TWO(first, second)                                                       \
  two<[](const array& c, const array& x, const array& z, const array& y) -> array { \
    (void)c;                                                                        \
    (void)x;                                                                        \
    (void)z;                                                                        \
    (void)y;                                                                        \
    return first;                                                                   \
  },                                                                                \
      [](const array& c, const array& x, const array& z, const array& y) -> array { \
        (void)c;                                                                    \
        (void)x;                                                                    \
        (void)z;                                                                    \
        (void)y;                                                                    \
        return second;                                                              \
      }>

/// Where both operands are equal, each gets half of the cotangent, as in JAX and MLX.
array half_where(const array& c, const array& x, const array& z, bool greater) {
  const array mine = greater ? lowtide::greater(x, z) : less(x, z);
  return where(mine, c, where(equal(x, z), c * like(c, 0.5), zeros_like(c)));
}

template <const char* const& direction>
std::vector<Term> emit_compare(Lowering& to, const std::vector<Term>& in, const Spec&) {
  return {to.compare(in[0], in[1], direction)};
}
constexpr const char* kEq = "EQ";
constexpr const char* kNe = "NE";
constexpr const char* kLt = "LT";
constexpr const char* kLe = "LE";
constexpr const char* kGt = "GT";
constexpr const char* kGe = "GE";

std::vector<Term> emit_convert(Lowering& to, const std::vector<Term>& in, const Spec& out) {
  Term a = in[0];
  if (a.dtype.val == Dtype::Val::complex64 && out.dtype.val != Dtype::Val::complex64)
    a = to.add("real", {a}, {}, a.shape, float32);
  if (out.dtype.val == Dtype::Val::bool_) return {to.compare(a, to.constant(0, a.dtype, a.shape), "NE")};
  return {to.convert(a, out.dtype)};
}
std::vector<Term> emit_bitcast(Lowering& to, const std::vector<Term>& in, const Spec& out) {
  return {to.add("bitcast-convert", {in[0]}, {}, out.shape, out.dtype)};
}
std::vector<Term> emit_same(Lowering&, const std::vector<Term>& in, const Spec&) { return {in[0]}; }
std::vector<Term> emit_barrier(Lowering& to, const std::vector<Term>& in, const Spec&) {
  return {to.unary("opt-barrier", in[0])};
}
std::vector<Term> emit_shift_right(Lowering& to, const std::vector<Term>& in, const Spec&) {
  const bool is_signed = issubdtype(in[0].dtype, signedinteger);
  return {to.binary(is_signed ? "shift-right-arithmetic" : "shift-right-logical", in[0], in[1])};
}
template <Term (*F)(const Term&)>
std::vector<Term> emit_golden(Lowering& to, const std::vector<Term>& in, const Spec& out) {
  return {to.convert(F(to.convert(in[0], float32)), out.dtype)};
}

const Row kRows[] = {
    {Op::kAbs, "abs", "abs", nullptr, LT_ONE(c * astype(sign(x), c.dtype()))},
    {Op::kNegate, "negate", "negate", nullptr, LT_ONE(negative(c))},
    {Op::kSign, "sign", "sign", nullptr, none},
    {Op::kCeil, "ceil", "ceil", nullptr, none},
    {Op::kFloor, "floor", "floor", nullptr, none},
    {Op::kRound, "round", "round-nearest-even", nullptr, none},
    {Op::kSqrt, "sqrt", "sqrt", nullptr, LT_ONE(c * like(c, 0.5) / y)},
    {Op::kRsqrt, "rsqrt", "rsqrt", nullptr, LT_ONE(c * like(c, -0.5) * y / x)},
    {Op::kExp, "exp", "exponential", nullptr, LT_ONE(c * y)},
    {Op::kExpm1, "expm1", "exponential-minus-one", nullptr, LT_ONE(c * (y + like(y, 1)))},
    {Op::kLog, "log", "log", nullptr, LT_ONE(c / x)},
    {Op::kLog1p, "log1p", "log-plus-one", nullptr, LT_ONE(c / (x + like(x, 1)))},
    {Op::kSin, "sin", "sine", nullptr, LT_ONE(c * cos(x))},
    {Op::kCos, "cos", "cosine", nullptr, LT_ONE(negative(c * sin(x)))},
    {Op::kTan, "tan", "tan", nullptr, LT_ONE(c * (y * y + like(y, 1)))},
    {Op::kAsin, "arcsin", "asin", nullptr, LT_ONE(c * rsqrt(like(x, 1) - x * x))},
    {Op::kAcos, "arccos", "acos", nullptr, LT_ONE(negative(c * rsqrt(like(x, 1) - x * x)))},
    {Op::kAtan, "arctan", nullptr, [](Lowering& to, const std::vector<Term>& in, const Spec& out) -> std::vector<Term> {
       return {to.add("atan2", {in[0], to.constant(1, out.dtype, out.shape)}, {}, out.shape, out.dtype)};
     }, LT_ONE(c / (like(x, 1) + x * x))},
    {Op::kSinh, "sinh", "sinh", nullptr, LT_ONE(c * cosh(x))},
    {Op::kCosh, "cosh", "cosh", nullptr, LT_ONE(c * sinh(x))},
    {Op::kTanh, "tanh", "tanh", nullptr, LT_ONE(c * (like(y, 1) - y * y))},
    {Op::kAsinh, "arcsinh", "asinh", nullptr, LT_ONE(c * rsqrt(x * x + like(x, 1)))},
    {Op::kAcosh, "arccosh", "acosh", nullptr, LT_ONE(c * rsqrt(x * x - like(x, 1)))},
    {Op::kAtanh, "arctanh", "atanh", nullptr, LT_ONE(c / (like(x, 1) - x * x))},
    {Op::kLogistic, "sigmoid", "logistic", nullptr, LT_ONE(c * y * (like(y, 1) - y))},
    {Op::kErf, "erf", "erf", nullptr, LT_ONE(c * like(c, 2 / std::sqrt(M_PI)) * exp(negative(x * x)))},
    {Op::kErfinv, "erfinv", nullptr, emit_golden<golden_erfinv>, LT_ONE(c * like(c, std::sqrt(M_PI) / 2) * exp(y * y))},
    {Op::kNot, "not", "not", nullptr, none},
    {Op::kIsFinite, "isfinite", "is-finite", nullptr, none},
    {Op::kReal, "real", "real", nullptr, LT_ONE(elementwise(Op::kComplex, {c, zeros_like(c)}, complex64))},
    {Op::kImag, "imag", "imag", nullptr, LT_ONE(elementwise(Op::kComplex, {zeros_like(c), negative(c)}, complex64))},
    {Op::kConvert, "convert", nullptr, emit_convert,
     [](const Backward& at) -> Gradients {
       if (!at.wanted[0]) return {std::nullopt};
       return {astype(at.cotangents[0], at.inputs[0].dtype())};
     }},
    {Op::kBitcast, "bitcast", nullptr, emit_bitcast, none},
    {Op::kSameValue, "same", nullptr, emit_same, LT_ONE(c)},
    {Op::kStopGradient, "stop_gradient", nullptr, emit_same, none},
    {Op::kBarrier, "barrier", nullptr, emit_barrier, LT_ONE(c)},
    {Op::kAdd, "add", "add", nullptr, LT_TWO(c, c)},
    {Op::kSubtract, "subtract", "subtract", nullptr, LT_TWO(c, negative(c))},
    {Op::kMultiply, "multiply", "multiply", nullptr, LT_TWO(c * z, c * x)},
    {Op::kDivide, "divide", "divide", nullptr, LT_TWO(c / z, negative(c * y / z))},
    {Op::kPower, "power", "power", nullptr,
     LT_TWO(c * z * power(x, z - like(z, 1)), c * y * log(where(x > like(x, 0), x, ones_like(x))))},
    {Op::kMaximum, "maximum", "maximum", nullptr, LT_TWO(half_where(c, x, z, true), half_where(c, z, x, true))},
    {Op::kMinimum, "minimum", "minimum", nullptr, LT_TWO(half_where(c, x, z, false), half_where(c, z, x, false))},
    {Op::kRemainder, "remainder", "remainder", nullptr, LT_TWO(c, negative(c * elementwise(Op::kDivide, {x - y, z}, x.dtype())))},
    {Op::kAtan2, "arctan2", "atan2", nullptr, LT_TWO(c * z / (x * x + z * z), negative(c * x / (x * x + z * z)))},
    {Op::kAnd, "and", "and", nullptr, none},
    {Op::kOr, "or", "or", nullptr, none},
    {Op::kXor, "xor", "xor", nullptr, none},
    {Op::kShiftLeft, "shift_left", "shift-left", nullptr, none},
    {Op::kShiftRight, "shift_right", nullptr, emit_shift_right, none},
    {Op::kComplex, "complex", "complex", nullptr, LT_TWO(real(c), negative(imag(c)))},
    {Op::kEq, "equal", nullptr, emit_compare<kEq>, none},
    {Op::kNe, "not_equal", nullptr, emit_compare<kNe>, none},
    {Op::kLt, "less", nullptr, emit_compare<kLt>, none},
    {Op::kLe, "less_equal", nullptr, emit_compare<kLe>, none},
    {Op::kGt, "greater", nullptr, emit_compare<kGt>, none},
    {Op::kGe, "greater_equal", nullptr, emit_compare<kGe>, none},
    {Op::kSelect, "select", "select", nullptr,
     [](const Backward& at) -> Gradients {
       const array& c = at.cotangents[0];
       Gradients gradients(3);
       if (at.wanted[1]) gradients[1] = where(at.inputs[0], c, zeros_like(c));
       if (at.wanted[2]) gradients[2] = where(at.inputs[0], zeros_like(c), c);
       return gradients;
     }},
    {Op::kUniformOfBits, "uniform_of_bits", nullptr,
     [](Lowering& to, const std::vector<Term>& in, const Spec& out) -> std::vector<Term> {
       return {to.convert(golden_uniform(in[0], out.dtype), out.dtype)};
     }, none},
    {Op::kRounded, "rounded", nullptr,
     [](Lowering&, const std::vector<Term>& in, const Spec&) -> std::vector<Term> { return {rounded(in[0])}; },
     LT_ONE(c)},
    {Op::kErfOfGolden, "golden_erf", nullptr, emit_golden<golden_erf>, one<[](const array& c, const array& x, const array&) -> array {
       return c * like(c, 2 / std::sqrt(M_PI)) * exp(negative(x * x));
     }>},
    {Op::kLogOfGolden, "golden_log", nullptr, emit_golden<golden_log>, LT_ONE(c / x)},
    {Op::kLog1pOfGolden, "golden_log1p", nullptr, emit_golden<golden_log1p>, LT_ONE(c / (x + like(x, 1)))},
    {Op::kExpOfGolden, "golden_exp", nullptr, emit_golden<golden_exp>, LT_ONE(c * y)},
};
static_assert(std::size(kRows) == kOps, "every operation has a row");

class ElementwisePrimitive final : public Primitive {
 public:
  explicit ElementwisePrimitive(const Row& row) : row_(row) {}
  std::string_view name() const override { return row_.name; }
  std::vector<Term> lower(Lowering& to, const std::vector<Term>& inputs,
                          const std::vector<Spec>& outputs) const override {
    if (row_.emit) return row_.emit(to, inputs, outputs[0]);
    return {to.add(row_.hlo, inputs, {}, outputs[0].shape, outputs[0].dtype)};
  }
  Gradients vjp(const Backward& at) const override { return row_.derivative(at); }
  std::vector<array> vmap(const Batch& batch) const override {
    std::vector<array> inputs;
    for (size_t i = 0; i < batch.inputs.size(); ++i)
      inputs.push_back(with_batch(batch.inputs[i], batch.batched[i], batch.count));
    return {elementwise(row_.op, std::move(inputs), batch.outputs[0].dtype)};
  }
  bool is_view() const override {
    return row_.op == Op::kSameValue || row_.op == Op::kStopGradient || row_.op == Op::kBarrier;
  }

 private:
  const Row& row_;
};

}  // namespace

array elementwise(Op op, std::vector<array> inputs, Dtype dtype, StreamOrDevice s) {
  static const std::vector<std::shared_ptr<const Primitive>> kPrimitives = [] {
    std::vector<std::shared_ptr<const Primitive>> made;
    for (const Row& row : kRows) {
      if (static_cast<size_t>(row.op) != made.size()) throw std::logic_error("rows and operations differ in order");
      made.push_back(std::make_shared<ElementwisePrimitive>(row));
    }
    return made;
  }();
  Shape shape = inputs.back().shape();
  return apply(kPrimitives[static_cast<size_t>(op)], std::move(inputs), std::move(shape), dtype, s);
}

std::shared_ptr<const Primitive> same_value() {
  static const std::shared_ptr<const Primitive> kSame = elementwise(Op::kSameValue, array(0)).state()->step->primitive;
  return kSame;
}

array with_batch(const array& a, bool batched, int64_t count) {
  if (batched) return a;
  Shape shape = a.shape();
  shape.insert(shape.begin(), count);
  Dims dimensions;
  for (size_t d = 1; d < shape.size(); ++d) dimensions.push_back(static_cast<int64_t>(d));
  return broadcast_in(a, shape, dimensions);
}

}  // namespace lowtide::lazy
