/// Bits of counter-based generators: the same for every executor.

#include "families.h"
#include "operations.h"

namespace lowtide::engine {
namespace {

constexpr ElementType kUnsigned[] = {ElementType::kU32, ElementType::kU32, ElementType::kU64, ElementType::kU16,
                                     ElementType::kU8};
constexpr ElementType kSigned[] = {ElementType::kS32, ElementType::kS64};
constexpr ElementType kDrawn[] = {ElementType::kS32, ElementType::kS8, ElementType::kU64, ElementType::kU16,
                                  ElementType::kS64};
constexpr RngAlgorithm kAlgorithms[] = {RngAlgorithm::kDefault, RngAlgorithm::kPhilox, RngAlgorithm::kThreeFry,
                                        RngAlgorithm::kThreeFry};

/// Numbers of the generator that the program doesn't see: XLA draws others.
bool make_hidden_numbers(Scope& scope, Draws& choices) {
  const ElementType type = choices.of(kDrawn);
  const double low = static_cast<double>(choices.between(0, 5)),
               high = low + static_cast<double>(choices.between(1, 40));
  const Shape shape = random_shape(choices, type);
  Instruction* a = scope.constant(type, low);
  Instruction* b = scope.constant(type, high);
  return scope.append(Opcode::kRng, shape, {a, b}, RngAttributes{RngDistribution::kUniform}) != nullptr;
}

}  // namespace

Maybe fact_of_random_bits(const Instruction& i, const Facts& operands) {
  if (i.opcode == Opcode::kRng) return interval(operands[0].low, operands[1].high - 1, 0, 0);
  return of_parts({any_integer(i.shape.elements[0].type), any_integer(i.shape.elements[1].type)});
}

bool make_random_bits(Scope& scope, Draws& choices) {
  if (!scope.for_xla() && choices.one_in(3)) return make_hidden_numbers(scope, choices);
  const RngAlgorithm algorithm = choices.of(kAlgorithms);
  const int64_t words = algorithm == RngAlgorithm::kThreeFry ? 2 : choices.between(2, 3);
  const Shape state = Shape::array(ElementType::kU64, {words});
  const bool is_signed = !scope.for_xla() && choices.one_in(4);  // XLA declares signed bits as unsigned ones
  const Shape bits = random_shape(choices, is_signed ? choices.of(kSigned) : choices.of(kUnsigned));
  return scope.append_parts(Opcode::kRngBitGenerator, Shape::tuple({state, bits}),
                            {value_of_shape(scope, choices, state)}, RngBitGeneratorAttributes{algorithm});
}

}  // namespace lowtide::engine
