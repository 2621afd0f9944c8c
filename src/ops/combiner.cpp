#include "ops/combiner.h"

#include <cstring>
#include <limits>
#include <optional>

#include "ops/arithmetic.h"

namespace lowtide::engine {
namespace {

template <class T>
T load(const std::byte* from) {
  T element;
  std::memcpy(&element, from, sizeof(T));
  return element;
}

template <class T, class F>
void combine_elements(std::byte* accumulator, const std::byte* value) {
  const T result = narrow<T>(F{}(widen(load<T>(accumulator)), widen(load<T>(value))));
  std::memcpy(accumulator, &result, sizeof(T));
}

template <class F, Kinds kinds>
CombineElements of_type(ElementType type) {
  if (!(kind_of(type) & kinds)) return nullptr;
  return dispatch(type, []<class T>() -> CombineElements {
    constexpr bool is_float = std::is_floating_point_v<computed_t<T>>;
    constexpr bool is_defined = is_complex_v<T> ? (kinds & kComplexes) != 0 : !is_float || (kinds & kFloats) != 0;
    if constexpr (is_defined) {
      return combine_elements<T, F>;
    } else {
      return nullptr;
    }
  });
}

CombineElements second_of(ElementType type) {
  return dispatch(type, []<class T>() -> CombineElements {
    return [](std::byte* accumulator, const std::byte* value) { std::memcpy(accumulator, value, sizeof(T)); };
  });
}

bool is_parameter(const Instruction& instruction, int64_t number) {
  const auto* parameter = instruction.if_as<ParameterAttributes>();
  return parameter && parameter->number == number;
}

}  // namespace

CombineElements combine_by(Opcode opcode, ElementType type) {
  constexpr Kinds kBits = kPredicates | kIntegers;
  switch (opcode) {
    case Opcode::kAdd: return of_type<Add, kAnything>(type);
    case Opcode::kSubtract: return of_type<Subtract, kNumbers>(type);
    case Opcode::kMultiply: return of_type<Multiply, kAnything>(type);
    case Opcode::kMaximum: return of_type<Maximum, kAnything>(type);
    case Opcode::kMinimum: return of_type<Minimum, kAnything>(type);
    case Opcode::kAnd: return of_type<And, kBits>(type);
    case Opcode::kOr: return of_type<Or, kBits>(type);
    case Opcode::kXor: return of_type<Xor, kBits>(type);
    default: return nullptr;
  }
}

Combiner recognise_combiner(const Computation& computation, ElementType type) {
  const Instruction* root = computation.root;
  if (!root || !is_array_type(type)) return {};
  int64_t parameters = 0;
  for (const auto& instruction : computation.instructions()) {
    if (instruction->opcode != Opcode::kParameter) continue;
    ++parameters;
    if (instruction->shape.type != type || instruction->shape.rank() != 0) return {};
  }
  if (parameters != 2 || root->shape.type != type || root->shape.rank() != 0) return {};
  if (is_parameter(*root, 1)) return {CombinerKind::kSecond, second_of(type)};
  if (root->operands.size() != 2) return {};
  const bool in_order = is_parameter(root->operand(0), 0) && is_parameter(root->operand(1), 1);
  const bool swapped = is_parameter(root->operand(0), 1) && is_parameter(root->operand(1), 0);
  if (!in_order && (!swapped || root->opcode == Opcode::kSubtract)) return {};
  if (const CombineElements combine = combine_by(root->opcode, type)) return {CombinerKind::kBinary, combine};
  return {};
}

namespace {

/// The neutral element of an operation, as a number of the computed type; least and greatest values are those of the
/// stored type of `bits` bits.
template <class C>
std::optional<C> neutral_number(Opcode opcode, int bits) {
  if constexpr (is_complex_v<C>) {
    if (opcode == Opcode::kAdd) return C(-0.0, -0.0);
    if (opcode == Opcode::kMultiply) return C(1);
  } else if constexpr (std::is_floating_point_v<C>) {
    if (opcode == Opcode::kAdd) return C(-0.0);
    if (opcode == Opcode::kMultiply) return C(1);
    if (opcode == Opcode::kMaximum && bits >= 16) return -std::numeric_limits<C>::infinity();
    if (opcode == Opcode::kMinimum && bits >= 16) return std::numeric_limits<C>::infinity();
  } else if constexpr (std::is_same_v<C, bool>) {
    if (opcode == Opcode::kAdd || opcode == Opcode::kOr || opcode == Opcode::kXor || opcode == Opcode::kMaximum)
      return false;
    if (opcode == Opcode::kMultiply || opcode == Opcode::kAnd || opcode == Opcode::kMinimum) return true;
  } else {
    constexpr bool is_signed = std::is_signed_v<C>;
    const C top =
        is_signed ? static_cast<C>((uint64_t{1} << (bits - 1)) - 1) : static_cast<C>(~uint64_t{0} >> (64 - bits));
    if (opcode == Opcode::kAdd || opcode == Opcode::kOr || opcode == Opcode::kXor) return C(0);
    if (opcode == Opcode::kMultiply) return C(1);
    if (opcode == Opcode::kAnd) return static_cast<C>(~uint64_t{0});
    if (opcode == Opcode::kMaximum) return is_signed ? static_cast<C>(-top - 1) : C(0);
    if (opcode == Opcode::kMinimum) return top;
  }
  return std::nullopt;
}

}  // namespace

bool is_addition(const Computation& computation, ElementType type) {
  return recognise_combiner(computation, type).kind == CombinerKind::kBinary &&
         computation.root->opcode == Opcode::kAdd;
}

bool is_order_free(const Computation& computation, ElementType type) {
  if (!is_floating(type) && !is_complex(type)) return true;
  const Opcode opcode = computation.root->opcode;
  return is_commutative(opcode) && opcode != Opcode::kAdd && opcode != Opcode::kMultiply;
}

Value neutral_element(Opcode opcode, ElementType type) {
  if (!is_array_type(type)) return nullptr;
  return dispatch(type, [&]<class T>() -> Value {
    const auto number = neutral_number<computed_t<T>>(opcode, type_bits(type));
    if (!number) return nullptr;
    auto value = std::make_shared<Literal>(Shape::scalar(type));
    value->template data<T>()[0] = narrow<T>(*number);
    return value;
  });
}

}  // namespace lowtide::engine
