#include "passes/rules/widen_scatters.h"

#include <algorithm>

#include "analysis/uses.h"
#include "passes/rules/maker.h"

namespace lowtide::engine {
namespace {

/// The combiner on wide numbers that the narrow type can represent.
Computation* widened(const Computation& combiner, ElementType narrow, ElementType wide) {
  Module& module = combiner.module();
  Computation* made = module.add_computation(module.unused_computation_name(combiner.name));
  Names names(*made);
  const auto append = [&](Opcode opcode, const std::string& name, ElementType type, std::vector<Instruction*> operands,
                          Attributes attributes) {
    auto i = std::make_unique<Instruction>();
    i->opcode = opcode;
    i->name = names.unused(name);
    i->shape = Shape::scalar(type);
    i->operands = std::move(operands);
    i->attributes = std::move(attributes);
    return made->append(std::move(i));
  };
  InstructionMap now;
  for (int64_t k = 0; k < 2; ++k) {
    const Instruction* old = combiner.parameters()[k];
    Instruction* given = append(Opcode::kParameter, old->name, wide, {}, ParameterAttributes{k});
    now[old] = append(Opcode::kConvert, old->name, narrow, {given}, {});
  }
  for (const auto& i : combiner.instructions()) {
    if (i->opcode != Opcode::kParameter)
      now[i.get()] = append(i->opcode, i->name, i->shape.type, mapped(*i, now), i->attributes);
  }
  made->root = append(Opcode::kConvert, combiner.root->name, wide, {now.at(combiner.root)}, {});
  return made;
}

class Widener {
 public:
  explicit Widener(const Module& module) : module_(module), uses_(module), id_limit_(module.id_limit()) {}

  Instruction* rewrite(Instruction& convert, Maker& maker) const {
    if (!is_result(convert)) return nullptr;
    const Instruction& scatter = convert.operand(0);
    if (scatter.opcode != Opcode::kScatter || scatter.operands.size() != 3 || !scatter.shape.is_array()) return nullptr;
    if (!scatter.shape.dynamic.empty() || scatter.sharding || convert.sharding) return nullptr;
    const ElementType narrow = scatter.shape.type, wide = convert.shape.type;
    if (!is_floating(narrow) || !is_floating(wide) || type_bits(wide) <= type_bits(narrow)) return nullptr;
    if (type_bits(narrow) < 16 || !is_alone(scatter) || !starts_equal(scatter)) return nullptr;
    if (!is_plain(*scatter.called[0], narrow)) return nullptr;
    Instruction* start = maker.convert(scatter.operands[0]->operands[0], wide);
    start = maker.broadcast(start, scatter.shape.dims, {});
    Instruction* updates = maker.convert(scatter.operands[2], wide);
    Instruction* made = maker.like(scatter, convert.shape, {start, scatter.operands[1], updates});
    made->called = {widened(*scatter.called[0], narrow, wide)};
    return made;
  }

 private:
  /// Is it a result of the program?
  bool is_result(const Instruction& i) const {
    if (i.id >= id_limit_ || i.parent != module_.entry) return false;
    const Instruction* root = module_.entry->root;
    return root == &i ||
           (root->opcode == Opcode::kTuple && std::ranges::find(root->operands, &i) != root->operands.end());
  }
  bool is_alone(const Instruction& scatter) const {
    return scatter.id < id_limit_ && scatter.parent == module_.entry && scatter.parent->root != &scatter &&
           uses_.of(scatter).size() == 1;
  }
  /// Is it one number everywhere? Then no array is stored for it.
  static bool starts_equal(const Instruction& scatter) {
    const Instruction& start = scatter.operand(0);
    return start.opcode == Opcode::kBroadcast && start.operand(0).shape.rank() == 0;
  }
  /// Does it have only scalars, and no calls?
  static bool is_plain(const Computation& combiner, ElementType narrow) {
    return combiner.parameters().size() == 2 &&
           std::ranges::all_of(combiner.parameters(), [&](const Instruction* p) { return p->shape.type == narrow; }) &&
           std::ranges::all_of(combiner.instructions(), [](const auto& i) {
             return i->shape.is_array() && i->shape.rank() == 0 && i->called.empty();
           });
  }

  const Module& module_;
  const Uses uses_;
  const int32_t id_limit_;
};

}  // namespace

Result<PassResult> widen_scatters(Module& module) {
  if (!has_any(module, {Opcode::kScatter})) return PassResult{};
  const Widener widener(module);
  return rewrite_each(
      module, {Opcode::kConvert}, [&](Instruction& i, Maker& maker) { return widener.rewrite(i, maker); },
      "scatters widened");
}

}  // namespace lowtide::engine
