#include "passes/rules/merged_dimensions.h"

#include <algorithm>

#include "ops/dimension_roles.h"
#include "ops/infer.h"
#include "ops/op_rule.h"
#include "passes/rewrite.h"
#include "passes/rules/index_forms.h"

namespace lowtide::engine {
namespace {

size_t leaf_count(const Instruction& i) { return i.shape.is_tuple() ? i.shape.elements.size() : 1; }
const Shape& leaf_shape(const Instruction& i, size_t leaf) {
  return i.shape.is_tuple() ? i.shape.elements[leaf] : i.shape;
}
bool has_bounds(const Instruction& i) {
  for (size_t leaf = 0; leaf < leaf_count(i); ++leaf) {
    if (!leaf_shape(i, leaf).dynamic.empty()) return true;
  }
  return false;
}
size_t element_number(const Instruction& i) { return static_cast<size_t>(i.as<TupleIndexAttributes>().index); }

}  // namespace

MergedDimensions::MergedDimensions(const Module& module) {
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) order_.push_back(i.get());
  }
  if (!some_reshape_merges()) return;
  number_dimensions(module);
}

bool MergedDimensions::some_reshape_merges() const {
  return std::ranges::any_of(order_, [](const Instruction* i) {
    return i->opcode == Opcode::kReshape && std::ranges::any_of(regrouped(*i), &Regrouped::is_merged);
  });
}

void MergedDimensions::number_dimensions(const Module& module) {
  const std::vector<bool> ordered = ordered_instructions(module);
  for (const Instruction* i : order_) {
    std::vector<size_t>& first = first_[i];
    for (size_t leaf = 0; leaf < leaf_count(*i); ++leaf) {
      first.push_back(nodes_);
      nodes_ += leaf_shape(*i, leaf).dims.size();
    }
    for (const Computation* called : i->called) callers_[called].push_back(i);
  }
  for (const Instruction* i : order_) {
    if (!ordered[i->id] && may_follow(*i)) follows_.insert(i);
  }
  exclude_borders_of_tuples();
}

/// Is it the test or body of one loop?
bool MergedDimensions::is_of_loop(const Computation& computation) const {
  const auto callers = callers_.find(&computation);
  return callers != callers_.end() && callers->second.size() == 1 && callers->second[0]->opcode == Opcode::kWhile;
}

bool MergedDimensions::may_follow(const Instruction& i) const {
  if (i.sharding || has_bounds(i)) return false;
  switch (i.opcode) {
    case Opcode::kReshape: return i.operand(0).shape.dynamic.empty();
    case Opcode::kTuple:
    case Opcode::kOptBarrier: return true;
    case Opcode::kWhile: return i.shape.is_tuple();
    case Opcode::kGetTupleElement: return i.shape.is_array();
    case Opcode::kParameter: return i.shape.is_tuple() && is_of_loop(*i.parent);
    default: return rule_of(i.opcode).split != nullptr && common_extents(i) != nullptr;
  }
}

/// An array can be reshaped between an instruction that follows and one that doesn't; a tuple can't.
void MergedDimensions::exclude_borders_of_tuples() {
  size_t before = 0;
  do {
    before = follows_.size();
    for (const Instruction* i : order_) {
      for (const Instruction* operand : i->operands) {
        if (!operand->shape.is_tuple()) continue;
        if (!follows_.contains(i)) follows_.erase(operand);
        if (!follows_.contains(operand)) follows_.erase(i);
      }
      if (i == i->parent->root && i->shape.is_tuple() && !is_of_loop(*i->parent)) follows_.erase(i);
      if (i->opcode != Opcode::kWhile) continue;
      const auto& test = *i->called[0];
      const auto& body = *i->called[1];
      const Instruction* const parts[] = {i, test.parameters()[0], body.parameters()[0], body.root};
      if (std::ranges::all_of(parts, [&](const Instruction* part) { return follows_.contains(part); })) continue;
      for (const Instruction* part : parts) follows_.erase(part);
    }
  } while (follows_.size() != before);
}

bool MergedDimensions::decide() {
  if (nodes_ == 0) return false;
  do {
    relate();
    choose();
  } while (exclude_what_cannot_follow());
  drop_what_does_not_pay();
  return !chosen_.empty();
}

void MergedDimensions::relate_leaves(const Instruction& a, size_t leaf_a, const Instruction& b, size_t leaf_b) {
  const size_t rank = leaf_shape(a, leaf_a).dims.size();
  for (size_t d = 0; d < rank; ++d) classes_.join(node(a, leaf_a, d), node(b, leaf_b, d));
}

void MergedDimensions::relate_loop(const Instruction& loop) {
  for (size_t leaf = 0; leaf < leaf_count(loop); ++leaf) {
    relate_leaves(loop, leaf, loop.operand(0), leaf);
    relate_leaves(loop, leaf, *loop.called[0]->parameters()[0], leaf);
    relate_leaves(loop, leaf, *loop.called[1]->parameters()[0], leaf);
    relate_leaves(loop, leaf, *loop.called[1]->root, leaf);
  }
}

void MergedDimensions::relate_reshape(const Instruction& reshape) {
  for (const Regrouped& g : regrouped(reshape)) {
    if (g.is_kept()) classes_.join(node(reshape.operand(0), 0, g.from[0]), node(reshape, 0, g.to[0]));
  }
}

/// Calls pair(operand, its dimension, node) for dimensions of operands that correspond to one of the result, or are
/// folded together with one of another operand.
template <class F>
void MergedDimensions::for_each_pair(const Instruction& i, F&& pair) const {
  const Shape& result = *common_extents(i);
  std::unordered_map<int64_t, size_t> folded;
  for (size_t k = 0; k < i.operands.size(); ++k) {
    const Shape& shape = i.operand(k).shape;
    if (!shape.is_array()) continue;
    const std::vector<OperandDimension> roles = operand_roles(i, k);
    for (size_t j = 0; j < roles.size(); ++j) {
      const OperandDimension& role = roles[j];
      if (role.role == DimensionRole::kReduced) {
        pair(k, j, folded.try_emplace(role.fold, node(i.operand(k), 0, j)).first->second);
      } else if (role.is_in_step()) {
        const auto d = static_cast<size_t>(role.result_dimension);
        if (result.dims[d] != shape.dims[j]) continue;
        for (size_t leaf = 0; leaf < leaf_count(i); ++leaf) pair(k, j, node(i, leaf, d));
      }
    }
  }
}

void MergedDimensions::relate() {
  classes_ = DisjointSets(nodes_);
  proposals_.clear();
  for (const Instruction* i : order_) {
    if (!follows(*i)) continue;
    switch (i->opcode) {
      case Opcode::kReshape: relate_reshape(*i); break;
      case Opcode::kWhile: relate_loop(*i); break;
      case Opcode::kParameter: break;
      case Opcode::kGetTupleElement: relate_leaves(*i, 0, i->operand(0), element_number(*i)); break;
      case Opcode::kTuple:
        for (size_t leaf = 0; leaf < leaf_count(*i); ++leaf) relate_leaves(*i, leaf, i->operand(leaf), 0);
        break;
      case Opcode::kOptBarrier:
        for (size_t leaf = 0; leaf < leaf_count(*i); ++leaf) relate_leaves(*i, leaf, i->operand(0), leaf);
        break;
      default: for_each_pair(*i, [&](size_t k, size_t j, size_t to) { classes_.join(to, node(i->operand(k), 0, j)); });
    }
  }
  for (const Instruction* i : order_) {
    if (follows(*i) && i->opcode == Opcode::kReshape) propose(*i);
  }
}

void MergedDimensions::propose(const Instruction& reshape) {
  const Instruction& operand = reshape.operand(0);
  for (const Regrouped& g : regrouped(reshape)) {
    if (!g.is_merged() && !g.is_split()) continue;
    Dims parts;
    for (const size_t d : g.is_merged() ? g.from : g.to) {
      parts.push_back((g.is_merged() ? operand : reshape).shape.dims[d]);
    }
    const size_t merged = g.is_merged() ? node(reshape, 0, g.to[0]) : node(operand, 0, g.from[0]);
    std::vector<Proposal>& proposals = proposals_[classes_.find(merged)];
    auto known = std::ranges::find(proposals, parts, &Proposal::parts);
    if (known == proposals.end()) known = proposals.insert(known, {parts, 0});
    if (operand.opcode != Opcode::kParameter) ++known->reshapes;
  }
}

void MergedDimensions::choose() {
  chosen_.clear();
  for (const auto& [merged, proposals] : proposals_) {
    chosen_[merged] = *std::ranges::max_element(proposals, {}, &Proposal::reshapes);
  }
}

SplitDims MergedDimensions::split_of(const Instruction& i, size_t leaf) {
  if (leaf >= leaf_count(i)) return SplitDims({});
  const Dims& extents = leaf_shape(i, leaf).dims;
  SplitDims split(extents);
  for (size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] == 1) continue;
    const auto found = chosen_.find(classes_.find(node(i, leaf, d)));
    if (found != chosen_.end()) split.split(d, found->second.parts);
  }
  return split;
}

bool MergedDimensions::is_split(const Instruction& i) {
  for (size_t leaf = 0; leaf < leaf_count(i); ++leaf) {
    if (split_of(i, leaf).is_split()) return true;
  }
  return std::ranges::any_of(i.operands, [&](const Instruction* operand) { return split_of(*operand).is_split(); });
}

SplitOperation MergedDimensions::split_operation(const Instruction& i) {
  SplitOperation split{split_of(i), {}};
  for (const Instruction* operand : i.operands) split.operands.push_back(split_of(*operand));
  return split;
}

/// Excludes instructions that can't be split as their classes are, and says whether there were any.
bool MergedDimensions::exclude_what_cannot_follow() {
  const size_t before = follows_.size();
  for (const Instruction* i : order_) {
    if (!follows(*i) || rule_of(i->opcode).split == nullptr || !is_split(*i)) continue;
    SplitOperation split = split_operation(*i);
    if (!can_follow(*i, split)) follows_.erase(i);
  }
  if (follows_.size() == before) return false;
  exclude_borders_of_tuples();
  return true;
}

/// Does each dimension that is split correspond to another one, or is it new, as in broadcasts?
bool MergedDimensions::can_follow(const Instruction& i, SplitOperation& split) {
  std::unordered_set<size_t> corresponding;
  for_each_pair(i, [&](size_t k, size_t j, size_t other) {
    corresponding.insert(node(i.operand(k), 0, j));
    corresponding.insert(other);
  });
  const auto all_correspond = [&](const Instruction& value) {
    for (size_t leaf = 0; leaf < leaf_count(value); ++leaf) {
      const SplitDims dims = split_of(value, leaf);
      for (size_t d = 0; d < leaf_shape(value, leaf).dims.size(); ++d) {
        if (dims.is_split(d) && !corresponding.contains(node(value, leaf, d))) return false;
      }
    }
    return true;
  };
  const OpRule& rule = rule_of(i.opcode);
  if (rule.slicing.sliceable != Sliceable::kAlways && !all_correspond(i)) return false;
  if (!std::ranges::all_of(i.operands, [&](const Instruction* operand) { return all_correspond(*operand); }))
    return false;
  Attributes attributes = i.attributes;
  return rule.split(split, attributes);
}

/// Keeps the classes of which more reshapes of computed arrays vanish than are added, one for each array that is on one
/// side of a border and read on the other; constants are written with other extents. Features of weights stay merged:
/// what is computed from weights is no batch.
void MergedDimensions::drop_what_does_not_pay() {
  std::unordered_set<const Instruction*> read_across;
  std::unordered_map<size_t, int64_t> added;
  const auto for_each_class = [&](const Instruction& array, auto&& visit) {
    for (size_t d = 0; d < array.shape.dims.size(); ++d) visit(classes_.find(node(array, 0, d)));
  };
  for (const Instruction* i : order_) {
    for (const Instruction* operand : i->operands) {
      if (follows(*i) != follows(*operand) && operand->opcode != Opcode::kConstant) read_across.insert(operand);
    }
    if (i == i->parent->root && i->shape.is_array() && follows(*i)) read_across.insert(i);
    const bool weights = i->opcode == Opcode::kParameter && i->shape.rank() > 1 && is_floating(i->shape.type);
    if (weights) for_each_class(*i, [&](size_t features) { chosen_.erase(features); });
  }
  for (const Instruction* i : read_across) {
    if (i->shape.is_array()) for_each_class(*i, [&](size_t merged) { ++added[merged]; });
  }
  std::erase_if(chosen_, [&](const auto& each) { return each.second.reshapes <= added[each.first]; });
}

}  // namespace lowtide::engine
