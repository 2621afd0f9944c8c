#include "passes/rules/split_merged_dimensions.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ops/op_rule.h"
#include "passes/canonicalise/remove_dead_code.h"
#include "passes/rules/maker.h"
#include "passes/rules/merged_dimensions.h"

namespace lowtide::engine {
namespace {

/// Replaces instructions by ones with split dimensions, each followed by the reshape that others read. What hands
/// tuples on is changed in place, as its users only take elements.
class DimensionSplitter {
 public:
  explicit DimensionSplitter(const Module& module) : merged_(module), splits_(merged_.decide()) {
    if (!splits_) return;
    // All is decided before the first instruction changes: operands are looked up as they were.
    for (const auto& computation : module.computations()) {
      for (const auto& i : computation->instructions()) plan(*i);
    }
  }
  bool splits() const { return splits_; }

  Instruction* operator()(Instruction& i, Maker& maker) {
    const auto found = plans_.find(&i);
    if (found == plans_.end()) return nullptr;
    Plan& plan = found->second;
    std::vector<Instruction*> operands;
    for (size_t k = 0; k < i.operands.size(); ++k) {
      operands.push_back(split_version(i.operands[k], plan.operation.operands[k], maker));
    }
    if (i.shape.is_tuple()) {
      change_in_place(i, plan, std::move(operands));
      return nullptr;
    }
    Instruction* made = made_of(i, plan.operation, std::move(operands), maker);
    if (!plan.operation.result.is_split()) return made;
    Instruction* reshaped = maker.make(Opcode::kReshape, i.shape, {made});
    split_[reshaped] = made;
    return reshaped;
  }

 private:
  struct Plan {
    SplitOperation operation;
    std::vector<SplitDims> leaves;  ///< of a tuple
  };

  void plan(const Instruction& i) {
    if (!merged_.follows(i) || !merged_.is_split(i)) return;
    Plan plan{merged_.split_operation(i), {}};
    for (size_t leaf = 0; leaf < i.shape.elements.size(); ++leaf) plan.leaves.push_back(merged_.split_of(i, leaf));
    plans_.emplace(&i, std::move(plan));
  }

  /// Reshapes, and what only hands arrays on, have no rule: no attribute of theirs depends on extents.
  static void adapt(SplitOperation& split, const Instruction& i, Attributes& attributes) {
    const OpRule& rule = rule_of(i.opcode);
    if (rule.split != nullptr) rule.split(split, attributes);
  }

  static void change_in_place(Instruction& i, Plan& plan, std::vector<Instruction*> operands) {
    i.operands = std::move(operands);
    for (size_t leaf = 0; leaf < plan.leaves.size(); ++leaf) {
      Shape& shape = i.shape.elements[leaf];
      if (plan.leaves[leaf].is_split()) shape = Shape::array(shape.type, plan.leaves[leaf].extents());
    }
    adapt(plan.operation, i, i.attributes);
  }

  static Instruction* made_of(Instruction& i, SplitOperation& split, std::vector<Instruction*> operands, Maker& maker) {
    const Dims extents = split.result.extents();
    if (i.opcode == Opcode::kReshape) return maker.reshape(operands[0], extents);
    Attributes attributes = i.attributes;
    adapt(split, i, attributes);
    if (split.indices > 0) operands = with_starts_of_parts(split, operands, maker);
    const Shape shape = split.result.is_split() ? Shape::array(i.shape.type, extents) : i.shape;
    Instruction* made = maker.like(i, shape, std::move(operands));
    made->attributes = std::move(attributes);
    return made;
  }

  /// A dimension that is read whole begins at 0, and so do its parts.
  static std::vector<Instruction*> with_starts_of_parts(const SplitOperation& split,
                                                        const std::vector<Instruction*>& operands, Maker& maker) {
    const auto first = operands.begin() + static_cast<std::ptrdiff_t>(split.indices);
    std::vector<Instruction*> all(operands.begin(), first);
    for (auto start = first; start != operands.end(); ++start) {
      const size_t parts = split.operands[0].numbers({start - first}).size();
      all.insert(all.end(), parts, parts > 1 ? maker.constant((*start)->shape.type, 0) : *start);
    }
    return all;
  }

  Instruction* split_version(Instruction* value, const SplitDims& split, Maker& maker) {
    if (!value->shape.is_array() || !split.is_split()) return value;
    Instruction*& known = split_[value];
    if (known == nullptr || known->shape.dims != split.extents()) known = maker.reshape(value, split.extents());
    return known;
  }

  MergedDimensions merged_;
  bool splits_;
  std::unordered_map<const Instruction*, Plan> plans_;
  InstructionMap split_;  ///< by the array with merged dimensions
};

}  // namespace

Result<PassResult> split_merged_dimensions(Module& module) {
  DimensionSplitter splitter(module);
  if (!splitter.splits()) return PassResult{};
  LT_ASSIGN_OR_RETURN(PassResult done, rewrite_each(
                                           module, [&](Instruction& i, Maker& maker) { return splitter(i, maker); },
                                           "operations with split dimensions"));
  if (done.changed) LT_RETURN_IF_ERROR(remove_dead_code(module).status());
  return done;
}

}  // namespace lowtide::engine
