#include "facts.h"

#include <algorithm>
#include <cmath>

#include "bounds.h"
#include "families.h"
#include "numbers.h"

namespace lowtide::engine {
namespace {

Maybe transcendental(Opcode op, const Shape& shape, const Fact& a) {
  const double m = a.magnitude(), low = a.low - a.error;
  switch (op) {
    case Opcode::kExponential:
      if (a.high > 9) return {};
      return monotone(shape, a, std::exp, std::exp(a.high) * (1 + m));
    case Opcode::kExponentialMinusOne:
      if (a.high > 9) return {};
      return monotone(shape, a, std::expm1, std::exp(a.high) * (1 + m));
    case Opcode::kLog:
      if (low < 0.04) return {};
      return monotone(shape, a, std::log, 1 / low);
    case Opcode::kLogPlusOne:
      if (low < -0.6) return {};
      return monotone(shape, a, std::log1p, 1 / (1 + low));
    case Opcode::kTanh: return monotone(shape, a, std::tanh, 1);
    case Opcode::kErf: return monotone(shape, a, std::erf, 2);
    case Opcode::kLogistic: return monotone(shape, a, [](double x) { return 1 / (1 + std::exp(-x)); }, 1);
    case Opcode::kSqrt:
      if (low < 0.01) return {};
      return monotone(shape, a, std::sqrt, 0.5 / std::sqrt(low));
    case Opcode::kRsqrt:
      if (low < 0.04) return {};
      return monotone(shape, a, [](double x) { return 1 / std::sqrt(x); }, 0.5 / (low * std::sqrt(low)));
    case Opcode::kCbrt:
      if (low < 0.04) return {};
      return monotone(shape, a, std::cbrt, 0.5 / low);
    case Opcode::kTan:
      if (m > 1.2) return {};
      return monotone(shape, a, std::tan, 8);
    case Opcode::kSine:
    case Opcode::kCosine:
      if (m > 30) return {};
      return rounded(shape, interval(-1, 1, a.error), transcendental_roundings(shape.type) * (1 + m));
    default: return fact_of_inverse(op, shape, a);
  }
}

Maybe unary(const Instruction& i, const Fact& a) {
  const ElementType type = i.shape.type;
  const bool integral = is_integral(type) || type == ElementType::kPred;
  switch (i.opcode) {
    case Opcode::kNegate:
      if (integral) return rounded(i.shape, negated(a));
      return negated(a);
    case Opcode::kAbs:
      return rounded(i.shape, interval(a.low > 0 ? a.low : a.high < 0 ? -a.high : 0, a.magnitude(), a.error, a.grid));
    case Opcode::kNot:
    case Opcode::kPopcnt: return any_integer(type);
    case Opcode::kCountLeadingZeros:
      if (a.low < 0) return {};  // XLA's constant folding gives -32 for a negative s32
      return interval(0, type_bits(type), 0, 0);
    case Opcode::kSign:
      if (!a.exact()) return {};
      return interval(-1, 1, 0, 0);
    case Opcode::kFloor:
    case Opcode::kCeil:
    case Opcode::kRoundNearestEven:
    case Opcode::kRoundNearestAfz:
      if (!a.exact()) return {};
      return interval(std::floor(a.low), std::ceil(a.high), 0, std::max(a.grid, 0));
    case Opcode::kIsFinite: return any_integer(ElementType::kPred);
    case Opcode::kReducePrecision:
      if (!a.exact()) return {};
      return rounded(i.shape, interval(1.5 * a.low, 1.5 * a.high, 0, a.grid));
    default: return transcendental(i.opcode, i.shape, a);
  }
}

Maybe power(const Shape& shape, const Fact& base, const Fact& exponent) {
  if (is_integral(shape.type)) {
    if (exponent.low < 0 || exponent.high > 8) return {};
    return any_integer(shape.type);
  }
  if (base.low - base.error < 0.05 || exponent.magnitude() > 4) return {};
  Fact result = interval(std::pow(base.low, exponent.low), std::pow(base.low, exponent.low), 0);
  for (const double b : {base.low, base.high}) {
    for (const double e : {exponent.low, exponent.high, 0.0}) {
      result.low = std::min(result.low, std::pow(b, e));
      result.high = std::max(result.high, std::pow(b, e));
    }
  }
  const double log_base = std::max(std::fabs(std::log(base.low)), std::fabs(std::log(base.high)));
  result.error = 1.1 * result.high * (exponent.magnitude() / base.low * base.error + log_base * exponent.error);
  return rounded(shape, result, transcendental_roundings(shape.type) * (1 + exponent.magnitude() * log_base));
}

/// Is b's distance from zero certain?
bool away_from_zero(const Fact& b) { return b.low - b.error > 0.05 || b.high + b.error < -0.05; }

/// XLA's constant folding dies of a division of integers by zero, and of the lowest one by -1; what XLA can't fold is
/// divided as HLO defines.
bool may_divide(const Fact& divisor) { return divisor.argument || divisor.low > 0; }

Maybe binary(const Instruction& i, const Fact& a, const Fact& b) {
  const ElementType type = i.shape.type;
  const bool integral = is_integral(type) || type == ElementType::kPred;
  switch (i.opcode) {
    case Opcode::kAdd: return rounded(i.shape, sum(a, b));
    case Opcode::kSubtract: return rounded(i.shape, sum(a, negated(b)));
    case Opcode::kMultiply: return rounded(i.shape, product(a, b));
    case Opcode::kDivide: {
      if (integral && !may_divide(b)) return {};
      if (integral) return any_integer(type);
      if (!away_from_zero(b)) return {};
      const Fact inverse =
          interval(1 / b.low, 1 / b.high, b.error / std::pow(std::min(std::abs(b.low), std::abs(b.high)) - b.error, 2));
      return rounded(i.shape, product(a, inverse), 2);
    }
    case Opcode::kRemainder:
      if (integral && !may_divide(b)) return {};
      if (integral) return any_integer(type);
      if (!a.exact() || !b.exact() || !away_from_zero(b)) return {};
      return interval(-b.magnitude(), b.magnitude(), 0, std::min(a.grid, b.grid));
    case Opcode::kMaximum:
      return interval(std::max(a.low, b.low), std::max(a.high, b.high), std::max(a.error, b.error),
                      std::min(a.grid, b.grid));
    case Opcode::kMinimum:
      return interval(std::min(a.low, b.low), std::min(a.high, b.high), std::max(a.error, b.error),
                      std::min(a.grid, b.grid));
    case Opcode::kPower: return power(i.shape, a, b);
    case Opcode::kAtan2:
      if (a.low - a.error < 0.05) return {};  // away from the cut along the negative half axis
      return rounded(i.shape, interval(0, 3.2, (a.error + b.error) / (a.low - a.error)),
                     transcendental_roundings(type));
    case Opcode::kMulhi:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightArithmetic:
    case Opcode::kShiftRightLogical: return any_integer(type);
    case Opcode::kCompare:
      if (!a.exact() || !b.exact()) return {};
      return any_integer(ElementType::kPred);
    default: return {};
  }
}

Maybe converted(const Instruction& i, const Fact& a) {
  const ElementType to = i.shape.type, from = i.operand(0).shape.type;
  if (is_complex(to)) return rounded(i.shape, is_complex(from) ? a : either(a, interval(0, 0, 0, a.grid)));
  if (is_complex(from)) return {};
  if (is_floating(to)) return rounded(i.shape, a);
  if (!a.exact()) return {};
  if (to == ElementType::kPred) return any_integer(to);
  const Fact any = any_integer(to);
  if (is_floating(from)) {  // saturates
    return interval(std::clamp(std::trunc(a.low), any.low, any.high), std::clamp(std::trunc(a.high), any.low, any.high),
                    0, 0);
  }
  return rounded(i.shape, a);
}

Fact fact_of_constant(const Literal& value) {
  std::vector<double> parts = parts_of(value);
  const ElementType element = value.shape().type;
  const size_t all = parts.size();
  if (is_floating(element)) std::erase_if(parts, [&](double x) { return is_special(element, x); });
  if (parts.size() < all) {
    parts.push_back(0);
    Fact fact = interval(*std::ranges::min_element(parts), *std::ranges::max_element(parts), 0, kConstantGrid);
    fact.special = true;
    return fact;
  }
  if (parts.empty()) return {};
  const auto [low, high] = std::minmax_element(parts.begin(), parts.end());
  const ElementType type = value.shape().type;
  return interval(*low, *high, 0, is_floating(type) || is_complex(type) ? kConstantGrid : 0);
}

/// A reduction of `count` elements like `a` and the initial value by the computation's root operation.
/// `may_be_empty`: some result may be the initial value alone.
Maybe reduced(const Instruction& i, const Shape& shape, const Fact& a, const Fact& init, double count,
              bool may_be_empty) {
  const Opcode op = i.called[0]->root->opcode;
  if (op == Opcode::kAdd) return sum_of(shape, either(a, init), count + 1);
  if (op == Opcode::kMaximum || op == Opcode::kMinimum) return may_be_empty ? either(a, init) : a;
  if (is_integral(shape.type) || shape.type == ElementType::kPred) return any_integer(shape.type);
  return {};
}

/// Does a fold that starts from `init` give what it would give without?
bool starts_neutral(const Instruction& i, const Fact& a, const Fact& init) {
  const Opcode op = i.called[0]->root->opcode;
  if (a.special || init.special) return false;
  if (op == Opcode::kMaximum) return init.high <= a.low;
  if (op == Opcode::kMinimum) return init.low >= a.high;
  return init.low == 0 && init.high == 0 && (op == Opcode::kAdd || op == Opcode::kOr);
}

double window_size(const Window& window) {
  double size = 1;
  for (const int64_t extent : window.size) size *= static_cast<double>(extent);
  return size;
}

Maybe contracted(const Shape& shape, const Fact& a, const Fact& b, double count) {
  return sum_of(shape, is_complex(shape.type) ? complex_product(a, b) : product(a, b), std::max(1.0, count));
}

/// A loop with a counter as its first carry, whose trips the condition's constant tells.
Maybe looped(const Instruction& i, const Fact& init) {
  const auto& limit = i.called[0]->root->operand(1);
  const int64_t trips = integer_at(*limit.as<ConstantAttributes>().value, 0);
  Fact carry = init;
  for (int64_t trip = 0; trip < trips; ++trip) {
    const Maybe next = fact_of(*i.called[1], {carry});
    if (!next) return {};
    carry = *next;
  }
  return carry;
}

Maybe conditional(const Instruction& i, const Facts& operands) {
  Maybe all;
  for (size_t branch = 0; branch < i.called.size(); ++branch) {
    const Maybe result = fact_of(*i.called[branch], {operands[branch + 1]});
    if (!result) return {};
    all = all ? either(*all, *result) : *result;
  }
  return all;
}

Maybe scattered(const Instruction& i, const Facts& operands) {
  const Opcode op = i.called[0]->root->opcode;
  const Fact both = either(operands[0], operands[2]);
  if (op == Opcode::kParameter || op == Opcode::kMaximum || op == Opcode::kMinimum) return both;
  if (op == Opcode::kAdd) return sum_of(i.shape, both, 1 + static_cast<double>(element_count(i.operand(2).shape)));
  return is_integral(i.shape.type) ? Maybe(any_integer(i.shape.type)) : std::nullopt;
}

}  // namespace

Fact either(const Fact& a, const Fact& b) {
  Fact both =
      interval(std::min(a.low, b.low), std::max(a.high, b.high), std::max(a.error, b.error), std::min(a.grid, b.grid));
  both.argument = a.argument && b.argument;
  both.special = a.special || b.special;
  for (size_t k = 0; k < a.parts.size(); ++k) both.parts.push_back(either(a.parts[k], b.parts[k]));
  return both;
}

Fact any_integer(ElementType type) {
  if (type == ElementType::kPred) return interval(0, 1, 0, 0);
  const int bits = type_bits(type);
  if (type_kind(type) == TypeKind::kUnsigned) return interval(0, std::ldexp(1.0, bits) - 1, 0, 0);
  return interval(-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 1) - 1, 0, 0);
}

Fact fact_of_argument(ElementType type) {
  // In [2^-4, 1], so the last place is no finer than this. Complex ones have no imaginary part.
  Fact fact = interval(is_complex(type) ? 0 : 0.0999, 1, 0, -4 - precision(type));
  if (type == ElementType::kPred) fact = interval(0, 1, 0, 0);
  if (is_integral(type)) fact = interval(0, 7, 0, 0);
  fact.argument = true;
  return fact;
}

namespace {

bool has_special(const Fact& fact) { return fact.special || std::ranges::any_of(fact.parts, has_special); }

/// Its elements are some of the first operand's.
bool moves_elements(Opcode opcode) {
  switch (opcode) {
    case Opcode::kBroadcast:
    case Opcode::kReshape:
    case Opcode::kTranspose:
    case Opcode::kSlice:
    case Opcode::kReverse:
    case Opcode::kCopy:
    case Opcode::kOptBarrier:
    case Opcode::kDynamicSlice:
    case Opcode::kGather: return true;
    default: return false;
  }
}

/// Every executor gives the same for floats that are no ordinary numbers.
bool takes_special(const Instruction& i) {
  if (moves_elements(i.opcode)) return true;
  switch (i.opcode) {
    case Opcode::kReduce:
    case Opcode::kScatter: {
      const Opcode op = i.called[0]->root->opcode;
      return i.shape.is_array() && (op == Opcode::kMaximum || op == Opcode::kMinimum || op == Opcode::kParameter);
    }
    case Opcode::kPad:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kConcatenate:
    case Opcode::kSelect:
    case Opcode::kClamp:
    case Opcode::kCompare:
    case Opcode::kConvert:
    case Opcode::kIsFinite:
    case Opcode::kNegate:
    case Opcode::kAbs:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kCall:
    case Opcode::kMap:
    case Opcode::kWhile:
    case Opcode::kConditional: return true;
    default: return false;
  }
}

Maybe fact_of_ordinary(const Instruction& i, const Facts& operands);

}  // namespace

Maybe fact_of(const Instruction& i, const Facts& operands) {
  if (std::ranges::none_of(operands, has_special)) return fact_of_ordinary(i, operands);
  if (!takes_special(i)) return {};
  Maybe fact = fact_of_ordinary(i, operands);
  if (!fact || i.shape.is_tuple() || i.opcode == Opcode::kGetTupleElement || !i.called.empty()) return fact;
  if (is_integral(i.shape.type) || i.shape.type == ElementType::kPred) {
    if (i.opcode == Opcode::kConvert && is_floating(i.operand(0).shape.type)) return any_integer(i.shape.type);
    return fact;
  }
  fact->special = std::ranges::any_of(operands, [](const Fact& f) { return f.special; });
  return fact;
}

namespace {

Maybe fact_of_ordinary(const Instruction& i, const Facts& operands) {
  if (moves_elements(i.opcode)) return operands[0];
  switch (i.opcode) {
    case Opcode::kConstant: return fact_of_constant(*i.as<ConstantAttributes>().value);
    case Opcode::kIota: return interval(0, static_cast<double>(std::max<int64_t>(1, element_count(i.shape))), 0, 0);
    case Opcode::kPad:
    case Opcode::kDynamicUpdateSlice: return either(operands[0], operands[1]);
    case Opcode::kConcatenate: return hull(operands, 0, operands.size());
    case Opcode::kSelect: return either(operands[1], operands[2]);
    case Opcode::kClamp:
      return interval(std::clamp(operands[1].low, operands[0].low, std::max(operands[0].low, operands[2].low)),
                      std::clamp(operands[1].high, operands[0].high, std::max(operands[0].high, operands[2].high)),
                      std::max({operands[0].error, operands[1].error, operands[2].error}),
                      std::min({operands[0].grid, operands[1].grid, operands[2].grid}));
    case Opcode::kConvert: return converted(i, operands[0]);
    case Opcode::kBitcastConvert:
      if (!is_integral(i.shape.type) || !is_integral(i.operand(0).shape.type)) return {};
      return any_integer(i.shape.type);
    case Opcode::kReduce: {
      const double count = static_cast<double>(element_count(i.operand(0).shape)) /
                           static_cast<double>(std::max<int64_t>(1, element_count(i.shape)));
      // Where nothing is folded away, XLA takes the operand as it is, whatever the fold starts from.
      const bool folds = !i.as<DimensionsAttributes>().dimensions.empty();
      if (!folds && !starts_neutral(i, operands[0], operands[operands.size() / 2])) return {};
      if (operands.size() == 2) return reduced(i, i.shape, operands[0], operands[1], count, count < 1);
      // The largest element and its index: the index among equals is defined, among nearly equals it is not.
      if (!operands[0].exact()) return {};
      return of_parts({either(operands[0], operands[2]), either(operands[1], operands[3])});
    }
    case Opcode::kReduceWindow:
      return reduced(i, i.shape, operands[0], operands[1], window_size(i.as<WindowAttributes>().window), true);
    case Opcode::kDot: {
      double count = 1;
      for (const int64_t d : i.as<DotAttributes>().lhs_contracting_dims) {
        count *= static_cast<double>(i.operand(0).shape.dims[d]);
      }
      return contracted(i.shape, operands[0], operands[1], count);
    }
    case Opcode::kConvolution: {
      const auto& a = i.as<ConvolutionAttributes>();
      const auto features = i.operand(1).shape.dims[a.kernel_input_feature];
      return contracted(i.shape, operands[0], operands[1], window_size(a.window) * static_cast<double>(features));
    }
    case Opcode::kScatter: return scattered(i, operands);
    case Opcode::kSort: {
      if (!operands[0].exact()) return {};
      if (operands.size() == 1) return operands[0];
      return of_parts(operands);
    }
    case Opcode::kTuple: return of_parts(operands);
    case Opcode::kGetTupleElement: return operands[0].parts[i.as<TupleIndexAttributes>().index];
    case Opcode::kCall:
    case Opcode::kMap: return fact_of(*i.called[0], operands);
    case Opcode::kWhile: return looped(i, operands[0]);
    case Opcode::kConditional: return conditional(i, operands);
    case Opcode::kBatchNormTraining:
    case Opcode::kBatchNormInference:
    case Opcode::kBatchNormGrad: return fact_of_batch_norm(i, operands);
    case Opcode::kSelectAndScatter: return fact_of_select_and_scatter(i, operands);
    case Opcode::kFft: return fact_of_fft(i, operands);
    case Opcode::kTriangularSolve: return fact_of_triangular_solve(i, operands);
    case Opcode::kCholesky: return fact_of_cholesky(i, operands);
    case Opcode::kRng:
    case Opcode::kRngBitGenerator: return fact_of_random_bits(i, operands);
    case Opcode::kTopK: return fact_of_top_k(i, operands);
    case Opcode::kScan: return fact_of_scan(i, operands);
    default: break;
  }
  if (is_complex(i.shape.type) || (!operands.empty() && is_complex(i.operand(0).shape.type))) {
    return fact_of_complex(i, operands);
  }
  if (operands.size() == 1) return unary(i, operands[0]);
  if (operands.size() == 2) return binary(i, operands[0], operands[1]);
  return {};
}

}  // namespace

Maybe fact_of(const Computation& computation, const Facts& arguments) {
  std::vector<std::pair<const Instruction*, Fact>> known;
  const auto find = [&](const Instruction* i) {
    return std::find_if(known.begin(), known.end(), [&](const auto& row) { return row.first == i; })->second;
  };
  for (const auto& i : computation.instructions()) {
    Maybe fact;
    if (i->opcode == Opcode::kParameter) {
      fact = arguments[i->as<ParameterAttributes>().number];
    } else {
      Facts operands;
      for (const Instruction* operand : i->operands) operands.push_back(find(operand));
      fact = fact_of(*i, operands);
    }
    if (!fact) return {};
    known.emplace_back(i.get(), *fact);
  }
  return find(computation.root);
}

}  // namespace lowtide::engine
