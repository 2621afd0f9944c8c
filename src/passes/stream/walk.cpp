#include "passes/stream/walk.h"

#include <algorithm>

#include "ops/dimension_roles.h"
#include "ops/infer.h"
#include "ops/op_rule.h"
#include "ops/picks.h"
#include "ops/updates_taken.h"

namespace lowtide::engine {
namespace {

const Slicing& slicing_of(const Instruction& i) { return rule_of(i.opcode).slicing; }

bool is_plain(const Instruction& i) { return i.shape.dynamic.empty() && i.control_predecessors.empty(); }

std::optional<Positions> positions_along(const Instruction& i, int64_t d) {
  return slicing_of(i).positions.value(i, d);
}

/// The number of the first slice, in an array's type and extents.
Instruction* number_in(const Shape& shape, Instruction* at, const Appender& append) {
  if (at->shape.type != shape.type) at = append(Opcode::kConvert, Shape::scalar(shape.type), {at}, {});
  return append(Opcode::kBroadcast, shape, {at}, DimensionsAttributes{});
}

/// The same array with its positions counted from `at`.
Instruction* counted_from(const Positions& positions, Instruction* array, Instruction* at, const Appender& append) {
  const Shape shape = Shape::array(array->shape.type, array->shape.dims);
  Instruction* from = number_in(shape, at, append);
  const int64_t length = positions.vectors >= 0 ? shape.dims[positions.vectors] : 1;
  if (length > 1) {
    auto only = std::make_shared<Literal>(Shape::array(shape.type, {length}));
    only->bytes()[positions.entry * stored_bytes(shape.type)] = std::byte{1};  // little-endian
    Instruction* mask = append(Opcode::kConstant, only->shape(), {}, ConstantAttributes{only});
    mask = append(Opcode::kBroadcast, shape, {mask}, DimensionsAttributes{{positions.vectors}});
    from = append(Opcode::kMultiply, shape, {from, mask}, {});
  }
  return append(Opcode::kSubtract, shape, {array, from}, {});
}

/// May every slice along d read the operand whole?
bool may_be_absent(const Instruction& user, size_t operand, int64_t d) {
  if (has_positions(user, d)) return true;
  switch (slicing_of(user).whole.value) {
    case ReadWhole::kAny: return true;
    case ReadWhole::kSecond: return operand == 1;
    case ReadWhole::kScalars: return user.operand(operand).shape.rank() == 0;
  }
  __builtin_unreachable();
}

}  // namespace

InStep operand_in_step(const Instruction& user, size_t operand, int64_t d, int64_t& operand_dimension, int64_t parts) {
  const Shape& shape = user.operand(operand).shape;
  const Shape* const result = common_extents(user);
  if (!shape.is_array() || result == nullptr) return InStep::kNo;
  const std::vector<OperandDimension> roles = operand_roles(user, operand);
  InStep in_step = InStep::kAbsent;
  for (size_t j = 0; j < roles.size(); ++j) {
    const OperandDimension& role = roles[j];
    const bool is_blocked = role.role == DimensionRole::kBlocked;
    const bool walks = role.role == DimensionRole::kPointwise || role.role == DimensionRole::kWindowed || is_blocked;
    if (!walks || role.result_dimension != d) continue;
    const bool plain = is_blocked ? parts > 0 && shape.dims[j] / role.block % parts == 0
                                  : role.is_in_step() && shape.dims[j] == result->dims[d];
    if (!plain || in_step == InStep::kYes) return InStep::kNo;
    in_step = InStep::kYes;
    operand_dimension = static_cast<int64_t>(j);
  }
  if (in_step == InStep::kYes || may_be_absent(user, operand, d)) return in_step;
  return InStep::kNo;
}

bool can_be_made_by_slices(const Instruction& i, int64_t d, int64_t parts) {
  const Shape* const extents = common_extents(i);
  const Sliceable sliceable = slicing_of(i).sliceable;
  if (extents == nullptr || sliceable == Sliceable::kNever || !is_plain(i) || d >= extents->rank()) return false;
  bool walks = sliceable == Sliceable::kAlways;
  for (size_t k = 0; k < i.operands.size(); ++k) {
    int64_t j = 0;
    const InStep in_step = operand_in_step(i, k, d, j, parts);
    if (in_step == InStep::kNo) return false;
    walks |= in_step == InStep::kYes;
  }
  return walks;
}

void adapt_to_slice(const Instruction& original, int64_t d, int64_t size, Attributes& attributes) {
  slicing_of(original).adapt.value(original, d, size, attributes);
}

bool has_positions(const Instruction& i, int64_t d) { return positions_along(i, d).has_value(); }

void count_operand_from(const Instruction& original, int64_t d, int64_t size, Instruction& slices, Instruction* at,
                        const Appender& append) {
  const std::optional<Positions> positions = positions_along(original, d);
  if (!positions || positions->operand == Positions::kResult) return;
  Instruction*& operand = slices.operands[positions->operand];
  operand = counted_from(*positions, operand, at, append);
  const int64_t whole = common_extents(original)->dims[d];
  take_part_of_updates(slices, static_cast<double>(size) / static_cast<double>(whole));
}

Instruction* pick_from_slices(const Instruction& original, int64_t d, int64_t size, Instruction gather, Instruction* at,
                              Instruction* so_far, const Appender& append) {
  const Positions positions = *picks_along(original, d);
  Instruction* indices = gather.operands[1];
  gather.operands[1] = counted_from(positions, indices, at, append);
  const ElementType type = indices->shape.type;
  Shape batch = Shape::array(type, indices->shape.dims);
  if (positions.vectors >= 0) {  // the entry of each vector that counts along d
    const auto along = static_cast<size_t>(positions.vectors);
    SliceAttributes entry{Dims(batch.dims.size(), 0), batch.dims, Dims(batch.dims.size(), 1)};
    entry.starts[along] = positions.entry;
    entry.limits[along] = positions.entry + 1;
    batch.dims[along] = 1;
    indices = append(Opcode::kSlice, batch, {indices}, entry);
    batch.dims.erase(batch.dims.begin() + positions.vectors);
    indices = append(Opcode::kReshape, batch, {indices}, {});
  }
  const auto number = [&](int64_t value) {
    auto literal = std::make_shared<Literal>(Shape::scalar(ElementType::kS32));
    literal->data<int32_t>()[0] = static_cast<int32_t>(value);
    return append(Opcode::kConstant, Shape::scalar(ElementType::kS32), {}, ConstantAttributes{literal});
  };
  const auto all = [&](Instruction* scalar) { return number_in(batch, scalar, append); };
  const Shape predicates = Shape::array(ElementType::kPred, batch.dims);
  const auto compare = [&](Instruction* limit, CompareDirection direction) {
    return append(Opcode::kCompare, predicates, {indices, limit}, CompareAttributes{direction, CompareType::kDefault});
  };
  // The gather clamps what lies outside of the whole.
  const int64_t last = original.operand(0).shape.dims[d] - 1;
  indices = append(Opcode::kClamp, batch, {all(number(0)), indices, all(number(last))}, {});
  Instruction* end = append(Opcode::kAdd, at->shape, {at, number(size)}, {});
  Instruction* is_here =
      append(Opcode::kAnd, predicates,
             {compare(all(at), CompareDirection::kGe), compare(all(end), CompareDirection::kLt)}, {});
  Dims along_batch;
  for (int64_t r = 0; r < original.shape.rank(); ++r) {
    if (!contains(original.as<GatherAttributes>().offset_dims, r)) along_batch.push_back(r);
  }
  is_here = append(Opcode::kBroadcast, Shape::array(ElementType::kPred, original.shape.dims), {is_here},
                   DimensionsAttributes{along_batch});
  Instruction* gathered = append(Opcode::kGather, so_far->shape, gather.operands, gather.attributes);
  return append(Opcode::kSelect, so_far->shape, {is_here, gathered, so_far}, {});
}

Instruction* count_result_from(const Instruction& original, int64_t d, Instruction* slices, Instruction* at,
                               const Appender& append) {
  const std::optional<Positions> positions = positions_along(original, d);
  if (!positions || positions->operand != Positions::kResult) return slices;
  return append(Opcode::kAdd, slices->shape, {slices, number_in(slices->shape, at, append)}, {});
}

std::optional<Fold> folded_along(const Instruction& user, size_t operand, int64_t d) {
  const bool folds = user.shape.is_array() && is_plain(user) && slicing_of(user).folds.value(user, operand, d);
  if (!folds) return std::nullopt;
  if (picks_along(user, d)) return Fold{{d, kNoId}};
  Fold fold;
  const std::vector<OperandDimension> mine = operand_roles(user, operand);
  if (static_cast<size_t>(d) >= mine.size() || mine[d].role != DimensionRole::kReduced) {
    return std::nullopt;
  }
  for (size_t k = 0; k < user.operands.size(); ++k) {
    fold.dimensions.push_back(kNoId);
    const std::vector<OperandDimension> roles = operand_roles(user, k);
    for (size_t j = 0; j < roles.size(); ++j) {
      if (roles[j].role == DimensionRole::kReduced && roles[j].fold == mine[d].fold) {
        fold.dimensions.back() = static_cast<int64_t>(j);
      }
    }
  }
  return fold;
}

}  // namespace lowtide::engine
