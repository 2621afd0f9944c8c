#include "analysis/evaluations.h"

#include <algorithm>
#include <cstdlib>

#include "analysis/trip_count.h"
#include "ops/op_rule.h"

namespace lowtide::engine {
namespace {

constexpr uint64_t kScalarMap = 1;  ///< the value is a scalar: one evaluation is enough for a whole kernel

}  // namespace

double terms_of(const Instruction& i) {
  const Evaluations one = evaluations_of_operand({0, 0, 1, true}, i, 0, i.operand(0).shape, false);
  return std::max(1.0, one.count);
}

double guessed_trips(const Instruction& loop) {
  // In a condition such as `i < n` with a constant n, n is usually the trip count times the step. Combined with another
  // condition, n is a limit that the loop isn't expected to reach.
  constexpr double kMostOfSeveral = 100;
  const double most = loop.called[0]->root->opcode == Opcode::kAnd ? kMostOfSeveral : 1e9;
  for (const auto& i : loop.called[0]->instructions()) {
    if (i->opcode != Opcode::kConstant || !is_integral(i->shape.type) || element_count(i->shape) != 1) continue;
    const Literal& value = *i->as<ConstantAttributes>().value;
    if (!value.known()) continue;
    const double step = static_cast<double>(std::abs(trip_step(loop).value_or(1)));
    return std::clamp(static_cast<double>(integer_at(value, 0)) / std::max(1.0, step), 1.0, most);
  }
  return 32;
}

Evaluations evaluations_of_root(int32_t kernel, const Shape& shape) {
  uint64_t map = 7;
  double most = -1;
  for_each_leaf(shape, [&](const ShapeIndex&, const Shape& leaf) {
    if (!leaf.is_array() || product_of_extents(leaf.dims) <= most) return;
    most = product_of_extents(leaf.dims);
    map = mixed(7, leaf.dims);
  });
  return {kernel, map, std::max(most, 1.0), true};
}

Evaluations evaluations_of_operand(const Evaluations& of_user, const Instruction& user, int32_t operand,
                                   const Shape& read, bool update) {
  if (product_of_extents(read.dims) <= 1) return {of_user.kernel, kScalarMap, 1, true};
  OperandReads reads(of_user, user, operand, read);
  if (update) {
    reads.in_own_loop(reads.elements());
  } else {
    rule_of(user.opcode).reads.value(reads);
  }
  return reads.evaluations();
}

}  // namespace lowtide::engine
