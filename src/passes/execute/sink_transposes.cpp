#include "passes/execute/sink_transposes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "analysis/uses.h"
#include "ir/dimension_order.h"
#include "passes/rules/maker.h"

namespace lowtide::engine {
namespace {

constexpr size_t kMostInside = 200;  ///< operations of one tree

const Dims& permutation_of(const Instruction& transpose) { return transpose.as<DimensionsAttributes>().dimensions; }

bool is_elementwise(const Instruction& i) {
  if (memory_class(i.opcode) != MemoryClass::kElementwise || !i.called.empty() || i.operands.empty()) return false;
  return std::ranges::all_of(i.operands, [&](const Instruction* operand) {
    return operand->shape.is_array() && (operand->shape.rank() == 0 || operand->shape.dims == i.shape.dims);
  });
}

/// An elementwise tree below a transpose or a reduction, to be computed with its dimensions permuted.
struct Tree {
  Dims permutation;                    ///< dimension k of what is computed is this dimension of the tree
  std::set<const Instruction*> fixed;  ///< operations inside that are computed from a transpose that cancels
};

class Sinker {
 public:
  explicit Sinker(const Module& module) : uses_(module) {
    for (const auto& computation : module.computations()) {
      for (const auto& i : computation->instructions()) {
        if (auto tree = tree_below(*i)) trees_.emplace(i.get(), std::move(*tree));
      }
    }
    while (drop_those_read_otherwise()) {
    }
  }

  Instruction* rewrite(Instruction& i, Maker& maker) {
    const auto found = trees_.find(&i);
    if (found == trees_.end()) return nullptr;
    Instruction* turned = turn(*i.operands[0], found->second.permutation, maker);
    if (i.opcode == Opcode::kTranspose) return turned;
    Instruction* made = maker.like(i, i.shape, {turned, i.operands[1]});
    Dims& dimensions = std::get<DimensionsAttributes>(made->attributes).dimensions;
    dimensions = entries_at(dimensions, inverse_of(found->second.permutation));
    std::ranges::sort(dimensions);
    return made;
  }

 private:
  std::optional<Tree> tree_below(const Instruction& root) const {
    if (!is_plain_array(root)) return std::nullopt;
    Tree tree;
    if (root.opcode == Opcode::kTranspose) {
      tree.permutation = permutation_of(root);
    } else if (root.opcode == Opcode::kReduce && root.operands.size() == 2) {
      const Instruction* transpose = first_transpose(root.operand(0));
      if (transpose == nullptr) return std::nullopt;
      tree.permutation = inverse_of(permutation_of(*transpose));
      Dims kept;
      for (int64_t d = 0; d < root.operand(0).shape.rank(); ++d) {
        const Dims& folded = root.as<DimensionsAttributes>().dimensions;
        if (std::ranges::find(folded, d) == folded.end()) kept.push_back(d);
      }
      if (!std::ranges::is_sorted(entries_at(kept, inverse_of(tree.permutation)))) return std::nullopt;
    } else {
      return std::nullopt;
    }
    if (!is_elementwise(root.operand(0))) return std::nullopt;
    std::map<const Instruction*, bool> seen;
    const std::optional<bool> has_transpose = visit(root.operand(0), tree, seen);
    return has_transpose.value_or(false) ? std::optional(std::move(tree)) : std::nullopt;
  }

  /// The first transpose below elementwise work.
  static const Instruction* first_transpose(const Instruction& top) {
    std::set<const Instruction*> seen{&top};
    std::vector<const Instruction*> open{&top};
    while (!open.empty() && seen.size() < kMostInside) {
      const Instruction& i = *open.back();
      open.pop_back();
      if (i.opcode == Opcode::kTranspose) return &i;
      if (!is_elementwise(i)) continue;
      for (const Instruction* operand : i.operands) {
        if (seen.insert(operand).second) open.push_back(operand);
      }
    }
    return nullptr;
  }

  /// Is it computed from a transpose that cancels? nullopt: it can't be computed with its dimensions permuted.
  std::optional<bool> visit(const Instruction& i, Tree& tree, std::map<const Instruction*, bool>& seen) const {
    if (const auto known = seen.find(&i); known != seen.end()) return known->second;
    if (!is_plain_array(i) || seen.size() >= kMostInside) return std::nullopt;
    bool has_transpose = false;
    if (i.opcode == Opcode::kTranspose) {
      const bool is_moved_itself = trees_.contains(&i);
      if (is_moved_itself || inverse_of(permutation_of(i)) != tree.permutation) return std::nullopt;
      has_transpose = true;
    } else if (i.opcode == Opcode::kBroadcast) {
      const Dims turned = entries_at(i.as<DimensionsAttributes>().dimensions, inverse_of(tree.permutation));
      if (!std::ranges::is_sorted(turned)) return std::nullopt;
    } else if (i.opcode != Opcode::kIota) {
      if (!is_elementwise(i)) return std::nullopt;
      for (const Instruction* operand : i.operands) {
        if (operand->shape.rank() == 0) continue;
        const std::optional<bool> below = visit(*operand, tree, seen);
        if (!below) return std::nullopt;
        has_transpose |= *below;
      }
      if (has_transpose) tree.fixed.insert(&i);
    }
    seen.emplace(&i, has_transpose);
    return has_transpose;
  }

  /// Drops trees of which others read values with the dimensions as they are. Was there one?
  bool drop_those_read_otherwise() {
    std::set<std::pair<const Instruction*, Dims>> inside;
    for (const auto& [root, tree] : trees_) {
      for (const Instruction* i : tree.fixed) inside.emplace(i, tree.permutation);
    }
    const size_t dropped = std::erase_if(trees_, [&](const auto& entry) {
      const auto& [root, tree] = entry;
      return std::ranges::any_of(tree.fixed, [&](const Instruction* i) {
        return i->parent->root == i || std::ranges::any_of(uses_.of(*i), [&](const Instruction* user) {
                 const auto own = trees_.find(user);
                 const bool is_root = own != trees_.end() && own->second.permutation == tree.permutation;
                 return !is_root && !inside.contains({user, tree.permutation});
               });
      });
    });
    return dropped > 0;
  }

  /// The value with its dimensions permuted.
  Instruction* turn(Instruction& i, const Dims& permutation, Maker& maker) {
    if (i.shape.rank() == 0) return &i;
    Instruction*& made = turned_[{&i, permutation}];
    if (made != nullptr) return made;
    if (i.opcode == Opcode::kTranspose) return made = i.operands[0];
    const Shape shape = Shape::array(i.shape.type, entries_at(permutation, i.shape.dims));
    if (i.opcode == Opcode::kBroadcast) {
      const Dims dimensions = entries_at(i.as<DimensionsAttributes>().dimensions, inverse_of(permutation));
      return made = maker.broadcast(i.operands[0], shape.dims, dimensions);
    }
    if (i.opcode == Opcode::kIota) {
      const int64_t along = inverse_of(permutation)[i.as<IotaAttributes>().dimension];
      return made = maker.make(Opcode::kIota, shape, {}, IotaAttributes{along});
    }
    std::vector<Instruction*> operands;
    for (Instruction* operand : i.operands) operands.push_back(turn(*operand, permutation, maker));
    return made = maker.like(i, shape, std::move(operands));
  }

  const Uses uses_;
  std::unordered_map<const Instruction*, Tree> trees_;  ///< by the transpose or the reduction
  std::map<std::pair<const Instruction*, Dims>, Instruction*> turned_;
};

}  // namespace

Result<PassResult> sink_transposes(Module& module) {
  if (!has_any(module, {Opcode::kTranspose})) return PassResult{};
  Sinker sinker(module);
  return rewrite_each(
      module, {Opcode::kTranspose, Opcode::kReduce},
      [&](Instruction& i, Maker& maker) { return sinker.rewrite(i, maker); }, "transposes and reductions of them");
}

}  // namespace lowtide::engine
