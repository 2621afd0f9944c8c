#include "passes/in_place/accumulate_where_it_lies.h"

#include <algorithm>

#include "analysis/uses.h"
#include "ops/combiner.h"
#include "passes/rules/index_forms.h"

namespace lowtide::engine {
namespace {

/// Traces b through converts to an update of zeros without other readers; null if there is none.
Instruction* lone_update(Instruction* b, const Uses& uses, int32_t id_limit) {
  for (;;) {
    if (b->id >= id_limit || uses.of(*b).size() != 1 || b == b->parent->root || !b->shape.dynamic.empty()) {
      return nullptr;
    }
    if (b->opcode != Opcode::kConvert) break;
    b = b->operands[0];
  }
  const bool update = b->opcode == Opcode::kDynamicUpdateSlice || b->opcode == Opcode::kScatter;
  return update && b->shape.is_array() && is_zero_everywhere(b->operand(0)) ? b : nullptr;
}

/// Applies the converts between `update` and `outer` to a value.
Instruction* converted(Instruction* value, const Instruction* outer, const Instruction* update, Maker& maker) {
  if (outer == update) return value;
  return maker.convert(converted(value, outer->operands[0], update, maker), outer->shape.type);
}

class Accumulator {
 public:
  explicit Accumulator(const Module& module)
      : uses_(module), id_limit_(module.id_limit()), in_order_(module.sums_in_order) {}

  Instruction* rewrite(Instruction& sum, Maker& maker) const {
    if (sum.operands[0] == sum.operands[1]) return nullptr;
    for (size_t k = sum.opcode == Opcode::kSubtract ? 1 : 0; k < 2; ++k) {
      Instruction *part = sum.operands[k], *all = sum.operands[1 - k];
      Instruction* update = lone_update(part, uses_, id_limit_);
      if (!update) continue;
      if (update->opcode == Opcode::kScatter) {
        if (part == update && sum.opcode == Opcode::kAdd && adds(*update) && keeps_order(*update)) {
          return scattered(*update, all, maker);
        }
      } else {
        return updated(sum, *update, part, all, maker);
      }
    }
    return nullptr;
  }

 private:
  /// Not small floats: each addition would be rounded, and lost if the accumulator is large.
  static bool adds(const Instruction& scatter) {
    const ElementType type = scatter.shape.type;
    if (scatter.operands.size() != 3 || (is_floating(type) && type_bits(type) < 32)) return false;
    return is_addition(*scatter.called[0], type);
  }

  /// Do sums keep their order? Several updates of one place would be added one by one to its old value.
  bool keeps_order(const Instruction& scatter) const {
    return !in_order_ || is_integral(scatter.shape.type) || scatter.as<ScatterAttributes>().unique_indices;
  }

  static Instruction* scattered(const Instruction& scatter, Instruction* all, Maker& maker) {
    return maker.like(scatter, Shape::array(all->shape.type, all->shape.dims),
                      {all, scatter.operands[1], scatter.operands[2]});
  }

  static bool same_place(const Instruction& a, const Instruction& b) {
    return a.opcode == Opcode::kDynamicUpdateSlice && a.operand(1).shape.dims == b.operand(1).shape.dims &&
           std::equal(a.operands.begin() + 2, a.operands.end(), b.operands.begin() + 2, b.operands.end());
  }

  static Instruction* updated(const Instruction& sum, const Instruction& update, const Instruction* part,
                              Instruction* all, Maker& maker) {
    const std::vector<Instruction*> place(update.operands.begin() + 2, update.operands.end());
    const Shape window = Shape::array(all->shape.type, update.operand(1).shape.dims);
    Instruction* there = nullptr;
    if (same_place(*all, update)) {
      there = all->operands[1];
      all = all->operands[0];
    } else {
      std::vector<Instruction*> operands{all};
      operands.insert(operands.end(), place.begin(), place.end());
      there = maker.make(Opcode::kDynamicSlice, window, operands, DynamicSliceAttributes{window.dims});
    }
    Instruction* more = converted(update.operands[1], part, &update, maker);
    std::vector<Instruction*> operands{all, maker.binary(sum.opcode, there, more)};
    operands.insert(operands.end(), place.begin(), place.end());
    return maker.make(Opcode::kDynamicUpdateSlice, Shape::array(all->shape.type, all->shape.dims), operands);
  }

  Uses uses_;
  int32_t id_limit_;
  bool in_order_;
};

}  // namespace

Result<PassResult> accumulate_where_it_lies(Module& module) {
  const Accumulator accumulator(module);
  return rewrite_each(
      module, {Opcode::kAdd, Opcode::kSubtract},
      [&](Instruction& sum, Maker& maker) { return accumulator.rewrite(sum, maker); }, "sums made where they lie");
}

}  // namespace lowtide::engine
