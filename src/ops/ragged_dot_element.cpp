#include <algorithm>

#include "ops/dot_checks.h"
#include "ops/element_rules.h"
#include "ops/infer.h"
#include "ops/products.h"

namespace lowtide::engine {
namespace {

constexpr ElementType kIndex = ElementType::kS64;

NodeId clamped(NestBuilder& nest, NodeId value, NodeId most) {
  const NodeId above = nest.operation(Opcode::kMaximum, kIndex, {value, nest.integer(kIndex, 0)});
  return nest.operation(Opcode::kMinimum, kIndex, {above, most});
}

NodeId compared(NestBuilder& nest, NodeId a, CompareDirection direction, NodeId b) {
  return nest.compare(a, b, {direction, CompareType::kSigned});
}

/// Walks the groups in order; `visit(k, begin, end)` returns the carried values after group k, rows [begin, end).
template <class Visit>
std::vector<NodeId> walk_groups(ElementContext& context, const Instruction& dot, int64_t rows,
                                std::vector<NodeId> carried, Visit&& visit) {
  NestBuilder& nest = context.nest;
  const Instruction& sizes = dot.operand(2);
  carried.insert(carried.begin(), nest.integer(kIndex, 0));
  const int32_t loop = nest.begin_sequential(sizes.shape.dims[0], carried);
  const Affine k = nest.index_of(loop);
  for (size_t s = 0; s < carried.size(); ++s) carried[s] = nest.carried(loop, static_cast<int32_t>(s));
  const NodeId begin = carried[0];
  const NodeId left = nest.operation(Opcode::kSubtract, kIndex, {nest.integer(kIndex, rows), begin});
  const NodeId size = clamped(nest, nest.convert(context.element(sizes, {k}), kIndex), left);
  const NodeId end = nest.operation(Opcode::kAdd, kIndex, {begin, size});
  std::vector<NodeId> next = visit(nest.value_of(k), begin, end, std::span(carried).subspan(1));
  next.insert(next.begin(), end);
  next = nest.end_carrying(loop, next);
  next.erase(next.begin());
  return next;
}

}  // namespace

bool has_element_ragged_dot(const Instruction& dot) {
  const auto& attributes = dot.as<DotAttributes>();
  if (dot.operand(2).shape.rank() != 1) return false;
  const int64_t ragged = attributes.lhs_ragged_dims[0];
  if (contains(attributes.lhs_batch_dims, ragged)) return false;
  const bool contracted = contains(attributes.lhs_contracting_dims, ragged);
  const bool grouped = !attributes.rhs_group_dims.empty();
  return contracted != grouped &&
         (!grouped || dot.operand(1).shape.dims[attributes.rhs_group_dims[0]] == dot.operand(2).shape.dims[0]) &&
         dot.operand(2).shape.dims[0] > 0;
}

void element_ragged_dot(ElementContext& context, const Instruction& dot, const Index& index, std::span<NodeId> leaves) {
  NestBuilder& nest = context.nest;
  const auto& attributes = dot.as<DotAttributes>();
  const Shape& lhs = dot.operand(0).shape;
  const Shape& rhs = dot.operand(1).shape;
  const auto ragged = static_cast<size_t>(attributes.lhs_ragged_dims[0]);
  const bool grouped = !attributes.rhs_group_dims.empty();
  const int64_t rows = lhs.dims[ragged];
  Index left(lhs.dims.size()), right(rhs.dims.size());
  size_t next = grouped ? 0 : 1;
  for (size_t k = 0; k < attributes.lhs_batch_dims.size(); ++k, ++next) {
    left[attributes.lhs_batch_dims[k]] = index[next];
    right[attributes.rhs_batch_dims[k]] = index[next];
  }
  for (const int64_t d : free_dims(lhs.rank(), attributes.lhs_contracting_dims, attributes.lhs_batch_dims)) {
    left[d] = index[next++];
  }
  for (const int64_t d : free_dims(rhs.rank(), attributes.rhs_contracting_dims, attributes.rhs_batch_dims)) {
    if (!contains(attributes.rhs_group_dims, d)) right[d] = index[next++];
  }
  const NodeId none = nest.integer(kIndex, -1);
  NodeId inside = kNoId, first = kNoId, last = kNoId;
  if (grouped) {
    const NodeId row = nest.value_of(left[ragged]);
    const NodeId group = walk_groups(context, dot, rows, {none}, [&](NodeId k, NodeId begin, NodeId end, auto old) {
      const NodeId mine = both(nest, compared(nest, row, CompareDirection::kGe, begin),
                               compared(nest, row, CompareDirection::kLt, end));
      return std::vector<NodeId>{nest.select(mine, k, old[0])};
    })[0];
    const int64_t groups = dot.operand(2).shape.dims[0];
    right[attributes.rhs_group_dims[0]] = nest.clamp(nest.affine(group), 0, groups - 1);
    inside = compared(nest, group, CompareDirection::kGe, nest.integer(kIndex, 0));
  } else {
    const NodeId wanted = nest.value_of(index[0]);
    const auto ends = walk_groups(context, dot, rows, {none, none}, [&](NodeId k, NodeId begin, NodeId end, auto old) {
      const NodeId mine = compared(nest, k, CompareDirection::kEq, wanted);
      return std::vector<NodeId>{nest.select(mine, begin, old[0]), nest.select(mine, end, old[1])};
    });
    first = ends[0];
    last = ends[1];
  }
  ProductSum sum(context, dot.shape.type);
  for (size_t k = 0; k < attributes.lhs_contracting_dims.size(); ++k) {
    const auto l = static_cast<size_t>(attributes.lhs_contracting_dims[k]);
    const Affine at = sum.open(lhs.dims[l]);
    left[l] = right[attributes.rhs_contracting_dims[k]] = at;
    if (l != ragged) continue;
    const NodeId row = nest.value_of(at);
    inside =
        both(nest, compared(nest, row, CompareDirection::kGe, first), compared(nest, row, CompareDirection::kLt, last));
  }
  const NodeId a = context.element(dot.operand(0), left);
  sum.add(a, context.element(dot.operand(1), right), inside);
  leaves[0] = sum.close();
}

}  // namespace lowtide::engine
