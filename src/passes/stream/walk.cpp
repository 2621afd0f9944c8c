#include "passes/stream/walk.h"

#include <algorithm>

#include "ops/dimension_roles.h"
#include "ops/op_rule.h"
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

const Shape* common_extents(const Instruction& i) {
  if (i.shape.is_array()) return &i.shape;
  if (!i.shape.is_tuple() || i.shape.elements.empty()) return nullptr;
  const Shape& first = i.shape.elements[0];
  const bool alike = std::ranges::all_of(
      i.shape.elements, [&](const Shape& s) { return s.is_array() && s.dynamic.empty() && s.dims == first.dims; });
  return alike ? &first : nullptr;
}

InStep operand_in_step(const Instruction& user, size_t operand, int64_t d, int64_t& operand_dimension) {
  const Shape& shape = user.operand(operand).shape;
  const Shape* const result = common_extents(user);
  if (!shape.is_array() || result == nullptr) return InStep::kNo;
  const std::vector<OperandDimension> roles = operand_roles(user, operand);
  InStep in_step = InStep::kAbsent;
  for (size_t j = 0; j < roles.size(); ++j) {
    const OperandDimension& role = roles[j];
    const bool walks = role.role == DimensionRole::kPointwise || role.role == DimensionRole::kWindowed;
    if (!walks || role.result_dimension != d) continue;
    const bool plain = role.role == DimensionRole::kPointwise && role.stride == 1 && role.offset == 0 &&
                       shape.dims[j] == result->dims[static_cast<size_t>(d)];
    if (!plain || in_step == InStep::kYes) return InStep::kNo;
    in_step = InStep::kYes;
    operand_dimension = static_cast<int64_t>(j);
  }
  if (in_step == InStep::kYes || may_be_absent(user, operand, d)) return in_step;
  return InStep::kNo;
}

bool can_be_made_by_slices(const Instruction& i, int64_t d) {
  const Shape* const extents = common_extents(i);
  const Sliceable sliceable = slicing_of(i).sliceable;
  if (extents == nullptr || sliceable == Sliceable::kNever || !is_plain(i) || d >= extents->rank()) return false;
  bool walks = sliceable == Sliceable::kAlways;
  for (size_t k = 0; k < i.operands.size(); ++k) {
    int64_t j = 0;
    const InStep in_step = operand_in_step(i, k, d, j);
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
  Instruction*& operand = slices.operands[static_cast<size_t>(positions->operand)];
  const Shape shape = Shape::array(operand->shape.type, operand->shape.dims);
  Instruction* from = number_in(shape, at, append);
  if (positions->vectors >= 0) {
    const int64_t length = shape.dims[static_cast<size_t>(positions->vectors)];
    if (length > 1) {
      auto only = std::make_shared<Literal>(Shape::array(shape.type, {length}));
      only->bytes()[static_cast<size_t>(positions->entry * stored_bytes(shape.type))] = std::byte{1};  // little-endian
      Instruction* mask = append(Opcode::kConstant, only->shape(), {}, ConstantAttributes{only});
      mask = append(Opcode::kBroadcast, shape, {mask}, DimensionsAttributes{{positions->vectors}});
      from = append(Opcode::kMultiply, shape, {from, mask}, {});
    }
  }
  operand = append(Opcode::kSubtract, shape, {operand, from}, {});
  const int64_t whole = common_extents(original)->dims[static_cast<size_t>(d)];
  take_part_of_updates(slices, static_cast<double>(size) / static_cast<double>(whole));
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
  const std::vector<OperandDimension> mine = operand_roles(user, operand);
  if (static_cast<size_t>(d) >= mine.size() || mine[static_cast<size_t>(d)].role != DimensionRole::kReduced) {
    return std::nullopt;
  }
  Fold fold;
  for (size_t k = 0; k < user.operands.size(); ++k) {
    fold.dimensions.push_back(kNoId);
    const std::vector<OperandDimension> roles = operand_roles(user, k);
    for (size_t j = 0; j < roles.size(); ++j) {
      if (roles[j].role == DimensionRole::kReduced && roles[j].fold == mine[static_cast<size_t>(d)].fold) {
        fold.dimensions.back() = static_cast<int64_t>(j);
      }
    }
  }
  return fold;
}

}  // namespace lowtide::engine
