#include "passes/rules/known_values.h"

#include <algorithm>
#include <map>

#include "ir/literal.h"
#include "ops/no_calls.h"
#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

constexpr int kDeepestValue = 64;  ///< operations looked through

class Evaluate {
 public:
  Value of(const Instruction& i, int depth) {
    const auto [known, fresh] = known_.try_emplace(&i, nullptr);
    if (fresh) known->second = look(i, depth);  // map nodes keep their addresses
    return known->second;
  }

 private:
  Value look(const Instruction& i, int depth) {
    if (!i.shape.is_array() || !i.shape.dynamic.empty() || element_count(i.shape) > kMostKnownElements) return nullptr;
    if (i.opcode == Opcode::kConstant) return known_constant(i) ? i.as<ConstantAttributes>().value : nullptr;
    const MemoryClass memory = memory_class(i.opcode);
    const bool makes = i.opcode == Opcode::kIota || memory == MemoryClass::kElementwise ||
                       memory == MemoryClass::kIndexMap || memory == MemoryClass::kView;
    if (!makes || depth > kDeepestValue || !i.called.empty() || !rule_of(i.opcode).eval) return nullptr;
    if (i.operands.empty() && i.opcode != Opcode::kIota) return nullptr;
    std::vector<Value> operands;
    for (const Instruction* operand : i.operands) {
      operands.push_back(of(*operand, depth + 1));
      if (!operands.back()) return nullptr;
    }
    NoCalls context;
    auto value = rule_of(i.opcode).eval(i, operands, context);
    if (!value.ok()) return nullptr;
    Value made = value.take();
    return made && made->known() && same_shape(made->shape(), i.shape) ? made : nullptr;
  }

  std::map<const Instruction*, Value> known_;
};

}  // namespace

Value known_value(const Instruction& value) { return Evaluate().of(value, 0); }

std::optional<int64_t> known_index(const Instruction& value) {
  const Value known = is_integral(value.shape.type) ? known_value(value) : nullptr;
  return known && known->size() == 1 ? std::optional(index_at(*known, 0)) : std::nullopt;
}

std::optional<Dims> known_corner(const Instruction& i, size_t first, const Dims& sizes) {
  Dims corner;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (first + d >= i.operands.size()) return std::nullopt;
    const auto start = known_index(i.operand(first + d));
    if (!start) return std::nullopt;
    corner.push_back(std::clamp<int64_t>(*start, 0, std::max<int64_t>(0, i.operand(0).shape.dims[d] - sizes[d])));
  }
  return corner;
}

Instruction* box_of(Instruction* value, const Dims& start, const Dims& size, Maker& maker) {
  if (size == value->shape.dims) return value;
  Dims limits = start;
  for (size_t d = 0; d < size.size(); ++d) limits[d] += size[d];
  return maker.make(Opcode::kSlice, Shape::array(value->shape.type, size), {value},
                    SliceAttributes{start, limits, Dims(size.size(), 1)});
}

Instruction* with_box(Instruction* value, Instruction* part, const Dims& start, Maker& maker) {
  if (part->shape.dims == value->shape.dims) return part;
  std::vector<Instruction*> operands{value, part};
  for (const int64_t at : start) operands.push_back(maker.constant(ElementType::kS32, at));
  return maker.make(Opcode::kDynamicUpdateSlice, Shape::array(value->shape.type, value->shape.dims), operands);
}

}  // namespace lowtide::engine
