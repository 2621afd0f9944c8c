#include "analysis/part_table.h"

#include <algorithm>

#include "ops/dimension_roles.h"
#include "ops/sharding_calls.h"

namespace lowtide::engine {
namespace {

constexpr int kMostSweeps = 16;

const Instruction* parameter_with(const Computation& computation, int64_t number) {
  const std::vector<Instruction*> all = computation.parameters();
  return number < static_cast<int64_t>(all.size()) ? all[number] : nullptr;
}

}  // namespace

PartTable::PartTable(const Module& module, int64_t devices)
    : module_(module), devices_(devices), parts_(static_cast<size_t>(module.id_limit())) {
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      if (leaf_count(i->shape) >= kMostLeaves) continue;
      std::vector<Dims>& mine = parts_[i->id];
      for_each_leaf(i->shape, [&](const ShapeIndex&, const Shape& leaf) {
        mine.emplace_back(leaf.is_array() ? leaf.dims.size() : 0, int64_t{0});
      });
    }
  }
}

Dims* PartTable::at(const Place& place) {
  std::vector<Dims>& mine = parts_[place.instruction->id];
  return place.leaf >= 0 && place.leaf < static_cast<int64_t>(mine.size()) ? &mine[place.leaf] : nullptr;
}

const Dims& PartTable::of(const Instruction& instruction, int32_t leaf) const {
  static const Dims kNone;
  const std::vector<Dims>& mine = parts_[instruction.id];
  return leaf >= 0 && leaf < static_cast<int32_t>(mine.size()) ? mine[leaf] : kNone;
}

bool PartTable::divides() const {
  const auto is_divided = [](const Dims& dims) { return std::ranges::any_of(dims, [](int64_t p) { return p > 1; }); };
  return std::ranges::any_of(parts_, [&](const auto& leaves) { return std::ranges::any_of(leaves, is_divided); });
}

bool PartTable::is_known(const Instruction& instruction, int32_t leaf) const {
  return std::ranges::any_of(of(instruction, leaf), [](int64_t parts) { return parts > 0; });
}

void PartTable::cut(const Instruction& instruction, int32_t leaf, size_t dimension, int64_t parts) {
  Dims* mine = at({&instruction, leaf});
  if (mine && dimension < mine->size()) (*mine)[dimension] = parts;
}

void PartTable::state(const Instruction& instruction, int32_t leaf, const Dims& parts, bool open) {
  Dims* mine = at({&instruction, leaf});
  if (!mine) return;
  for (size_t d = 0; d < mine->size(); ++d) {
    const int64_t said = d < parts.size() ? parts[d] : 1;
    if (said > 1 || !open) (*mine)[d] = std::max<int64_t>(1, said);
  }
}

bool PartTable::give(Dims& to, size_t d, int64_t parts) {
  if (d >= to.size() || to[d] != 0 || parts <= 1) return false;
  int64_t product = parts;
  for (const int64_t other : to) {
    if (product > devices_ || other > devices_) return false;
    product *= std::max<int64_t>(1, other);
  }
  if (product > devices_ || devices_ % product != 0) return false;
  to[d] = parts;
  return changed_ = true;
}

/// Propagates parts between two dimensions, where `a` has `ratio` times the extent of `b`.
void PartTable::link(const Place& a, size_t da, const Place& b, size_t db, int64_t ratio) {
  Dims *pa = at(a), *pb = at(b);
  if (!pa || !pb || da >= pa->size() || db >= pb->size()) return;
  if (ratio > devices_ || (*pb)[db] > devices_) return;
  if ((*pa)[da] > 0) give(*pb, db, (*pa)[da] / ratio);
  give(*pa, da, std::max<int64_t>(1, (*pb)[db]) * ratio);
}

void PartTable::link_leaves(const Instruction& a, int64_t from_a, const Instruction& b, int64_t from_b, int64_t count) {
  for (int64_t l = 0; l < count; ++l) {
    const Dims* mine = at({&a, from_a + l});
    const Dims* theirs = at({&b, from_b + l});
    if (!mine || !theirs || mine->size() != theirs->size()) continue;
    for (size_t d = 0; d < mine->size(); ++d) link({&a, from_a + l}, d, {&b, from_b + l}, d);
  }
}

void PartTable::visit_call(const Instruction& i) {
  const int64_t count = leaf_count(i.shape);
  for (size_t c = 0; c < i.called.size(); ++c) {
    const Computation& callee = *i.called[c];
    const bool loops = i.opcode == Opcode::kWhile, branches = i.opcode == Opcode::kConditional;
    for (size_t o = 0; o < i.operands.size(); ++o) {
      if (branches && o != c + 1) continue;
      const Instruction* parameter = parameter_with(callee, branches ? 0 : static_cast<int64_t>(o));
      if (parameter) link_leaves(*i.operands[o], 0, *parameter, 0, leaf_count(parameter->shape));
      if (loops && parameter) link_leaves(i, 0, *parameter, 0, count);
    }
    const bool gives_result = !loops || c == 1;
    if (gives_result && callee.root) link_leaves(*callee.root, 0, i, 0, count);
  }
}

/// For calls that only state shardings: operand and result are the same value, as a whole array or as a shard.
void PartTable::visit_parts(const Instruction& call) {
  const PartSide side = part_side(call);
  for (size_t o = 0; o < call.operands.size(); ++o) {
    const Instruction& operand = *call.operands[o];
    const Shape* mine = leaf_shape(call.shape, static_cast<int64_t>(o));
    const Place result{&call, static_cast<int64_t>(o)}, given{&operand, 0};
    const Place whole = side == PartSide::kOperands ? result : given,
                part = side == PartSide::kOperands ? given : result;
    const Shape &whole_shape = side == PartSide::kOperands ? *mine : operand.shape,
                &part_shape = side == PartSide::kOperands ? operand.shape : *mine;
    for (size_t d = 0; d < whole_shape.dims.size(); ++d) {
      const int64_t extent = part_shape.dims[d];
      if (extent > 0) link(whole, d, part, d, std::max<int64_t>(1, (whole_shape.dims[d] - 1) / extent + 1));
    }
  }
}

/// For merged or split dimensions, the outermost of each group keeps the parts if they divide it evenly on both sides.
void PartTable::visit_reshape(const Instruction& i) {
  const Instruction& operand = i.operand(0);
  const Dims &from = operand.shape.dims, &to = i.shape.dims;
  size_t a = 0, b = 0;
  while (a < from.size() && b < to.size()) {
    const size_t first_a = a, first_b = b;
    int64_t before = from[a++], after = to[b++];
    while (before != after) {
      if (before < after && a < from.size()) {
        before *= from[a++];
      } else if (after < before && b < to.size()) {
        after *= to[b++];
      } else {
        return;
      }
    }
    const Dims *mine = at({&i, 0}), *theirs = at({&operand, 0});
    if (!mine || !theirs) return;
    const int64_t parts = std::max((*mine)[first_b], (*theirs)[first_a]);
    const bool whole = a - first_a == 1 && b - first_b == 1;
    const bool divides = parts > 1 && from[first_a] % parts == 0 && to[first_b] % parts == 0;
    if (whole || divides) link({&operand, 0}, first_a, {&i, 0}, first_b);
  }
}

/// Links dimensions of operands with the corresponding dimensions of the results.
void PartTable::visit_operands(const Instruction& i) {
  const int64_t results = leaf_count(i.shape);
  for (size_t o = 0; o < i.operands.size(); ++o) {
    const Instruction& operand = *i.operands[o];
    if (!operand.shape.is_array()) continue;
    if (memory_class(i.opcode) == MemoryClass::kCollective) {
      const Shape* leaf = leaf_shape(i.shape, i.shape.is_tuple() ? static_cast<int64_t>(o) : 0);
      if (leaf && leaf->dims == operand.shape.dims)
        link_leaves(operand, 0, i, i.shape.is_tuple() ? static_cast<int64_t>(o) : 0, 1);
      continue;
    }
    const std::vector<OperandDimension> roles = operand_roles(i, o);
    for (int64_t l = 0; l < results; ++l) {
      const Shape* leaf = leaf_shape(i.shape, l);
      for (size_t d = 0; d < roles.size(); ++d) {
        const OperandDimension& role = roles[d];
        const bool follows = role.role == DimensionRole::kPointwise || role.role == DimensionRole::kWindowed;
        if (!follows || role.stride != 1 || role.result_dimension < 0 || role.result_dimension >= leaf->rank())
          continue;
        const auto r = static_cast<size_t>(role.result_dimension);
        if (leaf->dims[r] == operand.shape.dims[d]) link({&operand, 0}, d, {&i, l}, r);
      }
    }
  }
}

void PartTable::visit(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::kParameter:
    case Opcode::kConstant: return;
    case Opcode::kTuple: {
      int64_t to = 0;
      for (const Instruction* operand : i.operands) {
        const int64_t count = leaf_count(operand->shape);
        link_leaves(*operand, 0, i, to, count);
        to += count;
      }
      return;
    }
    case Opcode::kGetTupleElement:
      link_leaves(i.operand(0), leaf_offset(i.operand(0).shape, i.as<TupleIndexAttributes>().index), i, 0,
                  leaf_count(i.shape));
      return;
    case Opcode::kOptBarrier: {
      int64_t to = 0;
      for (const Instruction* operand : i.operands) {
        link_leaves(*operand, 0, i, to, leaf_count(operand->shape));
        to += leaf_count(operand->shape);
      }
      return;
    }
    case Opcode::kWhile:
    case Opcode::kConditional:
    case Opcode::kCall:
    case Opcode::kFusion: visit_call(i); return;
    case Opcode::kReshape: visit_reshape(i); return;
    case Opcode::kCustomCall:
      if (names_its_operands(i)) visit_parts(i);
      return;
    default: break;
  }
  if (memory_class(i.opcode) != MemoryClass::kAsync) visit_operands(i);
}

void PartTable::spread() {
  const std::vector<Computation*> computations = module_.callees_first();
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    changed_ = false;
    for (const Computation* computation : computations) {
      for (const auto& i : computation->instructions()) visit(*i);
    }
    for (auto computation = computations.rbegin(); computation != computations.rend(); ++computation) {
      const auto& all = (*computation)->instructions();
      for (auto i = all.rbegin(); i != all.rend(); ++i) visit(**i);
    }
    if (!changed_) return;
  }
}

}  // namespace lowtide::engine
