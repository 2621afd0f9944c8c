#include "passes/stream/walk.h"

#include <algorithm>

#include "analysis/dimension_roles.h"
#include "nest/nest.h"
#include "ops/combiner.h"

namespace lowtide::engine {
namespace {

bool adapts(const Instruction& i) {
  if (!i.shape.dynamic.empty() || !i.control_predecessors.empty()) return false;
  switch (i.opcode) {
    case Opcode::kReshape:
    case Opcode::kIota:
    case Opcode::kDot:
    case Opcode::kScatter:
    case Opcode::kConcatenate:
    case Opcode::kBroadcast:
    case Opcode::kTranspose:
    case Opcode::kSlice:
    case Opcode::kReverse:
    case Opcode::kPad:
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kConvolution:
    case Opcode::kReduceWindow:
    case Opcode::kSort:
    case Opcode::kTopK:
    case Opcode::kFft:
    case Opcode::kCholesky:
    case Opcode::kTriangularSolve:
    case Opcode::kSelectAndScatter:
    case Opcode::kGather:
    case Opcode::kReduce: return true;
    default: return memory_class(i.opcode) == MemoryClass::kElementwise;
  }
}

/// May the operand be one that every slice reads anew?
bool may_be_absent(const Instruction& user, size_t operand) {
  switch (user.opcode) {
    case Opcode::kBroadcast:
    case Opcode::kDot:
    case Opcode::kGather: return true;
    case Opcode::kScatter: return operand == 1;
    case Opcode::kConvolution: return operand == 1;
    default: return user.operand(operand).shape.rank() == 0;
  }
}

/// One operation on two numbers that has a neutral element.
bool has_neutral(const Computation& computation, ElementType type) {
  return recognise_combiner(computation, type).kind == CombinerKind::kBinary &&
         neutral_element(computation.root->opcode, type) != nullptr;
}

/// Are features of a convolution folded, as batches are where a kernel's gradient is one, in sums as precise as they
/// would be in one?
bool folds_features(const Instruction& convolution, size_t operand, int64_t d) {
  const auto& a = convolution.as<ConvolutionAttributes>();
  const ElementType type = convolution.shape.type;
  const bool precise = type == ElementType::kF32 || type == ElementType::kF64;
  return a.feature_group_count == 1 && precise && d == (operand == 0 ? a.input_feature : a.kernel_input_feature);
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
  if (in_step == InStep::kYes || may_be_absent(user, operand)) return in_step;
  return InStep::kNo;
}

bool can_be_made_by_slices(const Instruction& i, int64_t d) {
  const Shape* const extents = common_extents(i);
  if (extents == nullptr || !adapts(i) || d >= extents->rank() || !can_slice_result(i, d)) return false;
  bool walks = false;
  for (size_t k = 0; k < i.operands.size(); ++k) {
    int64_t j = 0;
    const InStep in_step = operand_in_step(i, k, d, j);
    if (in_step == InStep::kNo) return false;
    walks |= in_step == InStep::kYes;
  }
  return walks || i.opcode == Opcode::kIota || i.opcode == Opcode::kBroadcast;
}

void adapt_to_slice(const Instruction& original, int64_t d, int64_t size, Attributes& attributes) {
  int64_t j = 0;
  if (auto* slice = std::get_if<SliceAttributes>(&attributes)) slice->limits[static_cast<size_t>(d)] = size;
  if (auto* slice = std::get_if<DynamicSliceAttributes>(&attributes)) slice->sizes[static_cast<size_t>(d)] = size;
  if (auto* gather = std::get_if<GatherAttributes>(&attributes)) {
    if (operand_in_step(original, 0, d, j) == InStep::kYes) {
      const bool batching = std::ranges::find(gather->operand_batching_dims, j) != gather->operand_batching_dims.end();
      if (!batching) gather->slice_sizes[static_cast<size_t>(j)] = size;
    }
  }
}

std::optional<Fold> folded_along(const Instruction& user, size_t operand, int64_t d) {
  if (!user.shape.is_array() || !user.shape.dynamic.empty() || !user.control_predecessors.empty()) return std::nullopt;
  switch (user.opcode) {
    case Opcode::kDot:
      if (user.operands.size() != 2) return std::nullopt;
      break;
    case Opcode::kReduce:
      if (user.operands.size() != 2 || !has_neutral(*user.called[0], user.shape.type)) return std::nullopt;
      break;
    case Opcode::kScatter:
      if (user.operands.size() != 3) return std::nullopt;
      break;
    case Opcode::kConvolution:
      if (!folds_features(user, operand, d)) return std::nullopt;
      break;
    default: return std::nullopt;
  }
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
