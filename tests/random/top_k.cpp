/// The largest or smallest elements of lines.

#include "families.h"
#include "operations.h"

namespace lowtide::engine {

Maybe fact_of_top_k(const Instruction& i, const Facts& operands) {
  if (!operands[0].exact()) return {};
  const auto extent = static_cast<double>(i.operand(0).shape.dims.back());
  Fact value = operands[0];
  value.argument = false;
  return of_parts({value, interval(0, extent, 0, 0)});
}

bool make_top_k(Scope& scope, Draws& choices) {
  Instruction* operand = scope.choose(choices, [](const auto& e) {
    const ElementType type = e.instruction->shape.type;
    return e.fact.exact() && has_rank(1)(e) && type != ElementType::kPred && !is_complex(type);
  });
  if (!operand) return false;
  const TopKAttributes a{choices.between(1, operand->shape.dims.back()), !choices.one_in(3)};
  Shape values = operand->shape;
  values.dims.back() = a.k;
  return scope.append_parts(Opcode::kTopK, Shape::tuple({values, with_type(values, ElementType::kS32)}), {operand}, a);
}

}  // namespace lowtide::engine
