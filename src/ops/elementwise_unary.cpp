/// Elementwise operations with one operand that need no analysis; elementwise.h states their constraints.
/// Exceptions: abs of complex numbers gives floats, is-finite gives predicates, copy also accepts tuples.

#include <bit>

#include "ops/arithmetic.h"
#include "ops/elementwise.h"
#include "ops/functions.h"

namespace lowtide::engine {
namespace {

/// The bits of an integer of this width, as an unsigned number.
template <class C>
uint64_t bits_of(C x, int width) {
  return width == 64 ? static_cast<uint64_t>(x) : static_cast<uint64_t>(x) & ((uint64_t{1} << width) - 1);
}

struct Negate {
  template <class C>
  C operator()(C x) const {
    if constexpr (std::is_integral_v<C>) {
      return Subtract{}(C{0}, x);
    } else {
      return -x;
    }
  }
};

struct Sign {
  template <class C>
  C operator()(C x) const {
    if constexpr (is_complex_v<C>) {
      return C(sign(Wide<C>(x)));
    } else if constexpr (std::is_floating_point_v<C>) {
      return static_cast<C>(sign(static_cast<double>(x)));
    } else {
      return static_cast<C>((x > 0) - (x < C{0}));
    }
  }
};

struct Not {
  template <class C>
  C operator()(C x) const {
    if constexpr (std::is_same_v<C, bool>) {
      return !x;
    } else {
      return ~x;
    }
  }
};

struct Absolute {
  template <class C>
  C operator()(C x) const {
    if constexpr (std::is_integral_v<C>) {
      return x < C{0} ? Negate{}(x) : x;
    } else {
      return std::abs(x);
    }
  }
};

ElementType part_type(ElementType type) {
  return type == ElementType::kC64 ? ElementType::kF32 : type == ElementType::kC128 ? ElementType::kF64 : type;
}

Result<Shape> infer_abs(const Instruction& instruction) {
  LT_ASSIGN_OR_RETURN(const Shape operand, infer_unary(instruction, kNumbers));
  return with_type(operand, part_type(operand.type));
}

Result<Value> eval_abs(const Instruction& instruction, Operands operands, EvalContext& context) {
  if (!is_complex(operands[0]->shape().type)) {
    return eval_unary<kReals, Absolute>(instruction, operands, context);
  }
  return dispatch_computed<kComplexes>(operands[0]->shape().type, [&]<class C>() {
    using R = typename C::value_type;
    return map_numbers<C, R>(instruction.shape, [](C z) { return static_cast<R>(std::abs(Wide<C>(z))); }, *operands[0]);
  });
}

Result<Shape> infer_is_finite(const Instruction& instruction) {
  LT_ASSIGN_OR_RETURN(const Shape operand, infer_unary(instruction, kFloats));
  return with_type(operand, ElementType::kPred);
}

Result<Value> eval_is_finite(const Instruction& instruction, Operands operands, EvalContext&) {
  return dispatch_computed<kFloats>(operands[0]->shape().type, [&]<class C>() {
    return map_numbers<C, bool>(instruction.shape, [](C x) { return std::isfinite(x); }, *operands[0]);
  });
}

Result<Shape> infer_copy(const Instruction& instruction) {
  if (instruction.operands.size() != 1) return broken(instruction, "C1", "expects one operand");
  Shape shape = instruction.operand(0).shape;
  shape.type = result_type(instruction, shape.type);
  return shape;
}

Result<Value> eval_copy(const Instruction& instruction, Operands operands, EvalContext&) {
  if (!instruction.shape.is_array()) return operands[0];
  return convert_elements(operands[0], instruction.shape.type);
}

void element_copy(ElementContext& context, const Instruction& instruction, const Index& index,
                  std::span<NodeId> leaves) {
  leaves[0] = context.nest.convert(context.element(instruction.operand(0), index), instruction.shape.type);
}

bool has_element_copy(const Instruction& instruction) { return instruction.shape.is_array(); }

}  // namespace

const OpRule kAbsRule{.infer = infer_abs,
                      .eval = eval_abs,
                      .element = element_by_operation,
                      .split = split_by_element,
                      .slicing = kSlicedByElement,
                      .extents = extents_by_roles,
                      .reads = reads_by_element,
                      .arithmetic = {.plain = 1, .complex = 130, .code = 1, .rounds = Rounds::kNever, .terms = no_sum}};
const OpRule kCeilRule = unary<kFloats>([](auto x) { return std::ceil(x); }, kOneOperation);
const OpRule kCopyRule{.infer = infer_copy,
                       .eval = eval_copy,
                       .element = element_copy,
                       .has_element = has_element_copy,
                       .split = split_by_element,
                       .slicing = kSlicedByElement,
                       .extents = extents_by_roles,
                       .reads = reads_by_element,
                       .arithmetic = kQuarterOperation};
const OpRule kCountLeadingZerosRule =
    unary<kIntegers>([](auto x, int width) { return width - std::bit_width(bits_of(x, width)); }, kOneOperation);
const OpRule kFloorRule = unary<kFloats>([](auto x) { return std::floor(x); }, kOneOperation);
const OpRule kIsFiniteRule{.infer = infer_is_finite,
                           .eval = eval_is_finite,
                           .element = element_by_operation,
                           .split = split_by_element,
                           .slicing = kSlicedByElement,
                           .extents = extents_by_roles,
                           .reads = reads_by_element,
                           .arithmetic = kOneOperation};
const OpRule kNegateRule = unary<kNumbers>(Negate{}, kOneOperation);
const OpRule kNotRule = unary<kBits>(Not{}, kOneOperation);
const OpRule kPopcntRule =
    unary<kIntegers>([](auto x, int width) { return std::popcount(bits_of(x, width)); }, kOneOperation);
const OpRule kRoundNearestAfzRule = unary<kFloats>([](auto x) { return std::round(x); }, kOneOperation);
const OpRule kRoundNearestEvenRule = unary<kFloats>([](auto x) { return std::nearbyint(x); }, kOneOperation);
const OpRule kSignRule =
    unary<kNumbers>(Sign{}, {.plain = 1, .complex = 250, .code = 1, .rounds = Rounds::kNever, .terms = no_sum});

}  // namespace lowtide::engine
