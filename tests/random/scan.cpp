/// A computation carried along a dimension.

#include "families.h"
#include "operations.h"

namespace lowtide::engine {
namespace {

constexpr Opcode kOfFloats[] = {Opcode::kAdd, Opcode::kSubtract, Opcode::kMultiply, Opcode::kMaximum, Opcode::kMinimum};
constexpr Opcode kOfIntegers[] = {Opcode::kAdd, Opcode::kSubtract, Opcode::kMultiply, Opcode::kXor, Opcode::kMaximum};
constexpr Opcode kOfPredicates[] = {Opcode::kAnd, Opcode::kOr, Opcode::kXor};
constexpr Opcode kOfComplex[] = {Opcode::kAdd, Opcode::kSubtract};

Opcode random_step(Draws& choices, ElementType type) {
  if (is_complex(type)) return choices.of(kOfComplex);
  if (is_floating(type)) return choices.of(kOfFloats);
  return type == ElementType::kPred ? choices.of(kOfPredicates) : choices.of(kOfIntegers);
}

}  // namespace

Maybe fact_of_scan(const Instruction& i, const Facts& operands) {
  const auto& a = i.as<ScanAttributes>();
  const int64_t extent = i.operand(0).shape.dims[a.dimension];
  Fact carry = operands[1];
  Maybe all;
  for (int64_t step = 0; step < extent; ++step) {
    const Maybe next = fact_of(*i.called[0], {operands[0], carry});
    if (!next) return {};
    all = all ? either(*all, next->parts[0]) : next->parts[0];
    carry = next->parts[1];
  }
  if (!all) return {};
  return of_parts({*all, carry});
}

bool make_scan(Scope& scope, Draws& choices) {
  Instruction* input = scope.choose(choices, has_rank(1));
  if (!input) return false;
  const int64_t d = choices.below(input->shape.rank());
  Shape slice = input->shape;
  slice.dims.erase(slice.dims.begin() + d);
  Instruction* init = value_of_shape(scope, choices, slice);
  Scope body = scope.nested();
  const Fact any = fact_of_argument(slice.type);
  Instruction* x = body.parameter(0, slice, any);
  Instruction* carry = body.parameter(1, slice, any);
  Instruction* next = body.append(random_step(choices, slice.type), slice, {carry, x});
  Instruction* out = choices.one_in(2) ? next : body.append(random_step(choices, slice.type), slice, {next, x});
  if (!init || !out) return false;
  ScanAttributes a;
  a.dimension = d;
  a.is_reverse = choices.one_in(2);
  a.num_carries = 1;
  return scope.append_parts(Opcode::kScan, Shape::tuple({input->shape, slice}), {input, init}, a,
                            {body.finish("step", body.tuple({out, next}))});
}

}  // namespace lowtide::engine
