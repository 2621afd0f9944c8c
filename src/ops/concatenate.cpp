/// concatenate: joins arrays along one dimension d.
///   a T[s], b T[t], ... -> T[r], r[d] = s[d] + t[d] + ..., the other extents unchanged
///   (C1) at least one operand, arrays of one element type; floats may differ in precision
///   (C2) dimensions is exactly one dimension of the operands  (C3) their other extents agree

#include <fmt/format.h>

#include <algorithm>

#include "ops/dimension_roles.h"
#include "ops/dimensions.h"
#include "ops/elementwise.h"
#include "ops/evaluations.h"
#include "ops/extents.h"
#include "ops/rows.h"
#include "ops/strided.h"

namespace lowtide::engine {
namespace {

Result<Shape> infer_concatenation(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(check_operands(instruction, "C1", kAnyArity, kAnything));
  const Shape& first = instruction.operand(0).shape;
  const Dims& dimensions = instruction.as<DimensionsAttributes>().dimensions;
  if (dimensions.size() != 1 || !are_distinct_dims(dimensions, first.rank())) {
    return broken(instruction, "C2",
                  fmt::format("dimensions {} must be exactly one dimension of {}", to_string(dimensions),
                              to_string_without_layout(first)));
  }
  const auto along = static_cast<size_t>(dimensions[0]);
  Shape result = with_type(first, result_type(instruction, first.type));
  for (size_t k = 1; k < instruction.operands.size(); ++k) {
    const Shape& next = instruction.operand(k).shape;
    if (!same_or_mixed_precision(first.type, next.type)) {
      return broken(instruction, "C1",
                    fmt::format("operands must have one element type, got {} and {}", type_name(first.type),
                                type_name(next.type)));
    }
    if (next.rank() != first.rank()) {
      return broken(instruction, "C3", fmt::format("operand {} has rank {}, not {}", k, next.rank(), first.rank()));
    }
    for (size_t d = 0; d < next.dims.size(); ++d) {
      if (d != along && !agree(next.dims[d], first.dims[d])) {
        return broken(instruction, "C3",
                      fmt::format("extents outside dimension {} must agree, got {} and {}", along,
                                  to_string_without_layout(first), to_string_without_layout(next)));
      }
    }
    int64_t& extent = result.dims[along];
    if (extent == kUnboundedDim || next.dims[along] == kUnboundedDim) {
      extent = kUnboundedDim;
    } else if (__builtin_add_overflow(extent, next.dims[along], &extent)) {
      return broken(instruction, "", "the sum of the extents overflows");
    }
    if (!next.dynamic.empty()) {
      result.dynamic.resize(result.dims.size());
      for (size_t d = 0; d < next.dims.size(); ++d) result.dynamic[d] = result.dynamic[d] || next.dynamic[d];
    }
  }
  return checked(instruction, std::move(result));
}

Result<Value> eval_concatenation(const Instruction& instruction, Operands operands, EvalContext&) {
  LT_ASSIGN_OR_RETURN(const std::shared_ptr<Literal> result, new_array(instruction.shape));
  const auto along = static_cast<size_t>(instruction.as<DimensionsAttributes>().dimensions[0]);
  Dims starts(instruction.shape.dims.size(), 0);
  for (const Value& operand : operands) {
    LT_ASSIGN_OR_RETURN(const Value part, convert_elements(operand, instruction.shape.type));
    copy_into(*part, *result, starts);
    starts[along] += part->shape().dims[along];
  }
  return Value(result);
}

constexpr size_t kMostFolded = 4;        ///< operands
constexpr size_t kLongComputation = 32;  ///< nodes

/// For operands of equal extents that share most of their computation (the two words of one hash): computes all of them
/// at the index relative to the operand that contains it, and selects that operand. kNoId if they share little.
NodeId folded(ElementContext& context, const Instruction& instruction, const Index& index) {
  NestBuilder& nest = context.nest;
  const auto along = static_cast<size_t>(instruction.as<DimensionsAttributes>().dimensions[0]);
  const auto& operands = instruction.operands;
  if (operands.size() < 2 || operands.size() > kMostFolded) return kNoId;
  const int64_t extent = operands[0]->shape.dims[along];
  if (std::ranges::any_of(operands, [&](const Instruction* o) { return o->shape.dims[along] != extent; })) return kNoId;
  std::vector<NodeId> before_end;
  NodeId start = nest.integer(ElementType::kS64, static_cast<int64_t>(operands.size() - 1) * extent);
  for (size_t k = operands.size() - 1; k-- > 0;) {
    before_end.push_back(nest.less(index[along], static_cast<int64_t>(k + 1) * extent));
    if (nest.known_integer(before_end.back())) return kNoId;
    start = nest.select(before_end.back(), nest.integer(ElementType::kS64, static_cast<int64_t>(k) * extent), start);
  }
  Index from = index;
  from[along] = nest.plus(index[along], nest.times(nest.affine(start), -1));
  NodeId chosen = kNoId;
  size_t first = 0;
  for (size_t k = operands.size(); k-- > 0;) {
    const size_t before = nest.nest().nodes.size();
    const NodeId made = nest.convert(context.element(*operands[k], from), instruction.shape.type);
    const size_t more = nest.nest().nodes.size() - before;
    if (chosen == kNoId) {
      first = more;
      if (first < kLongComputation) return kNoId;
      chosen = made;
    } else {
      if (2 * more > first) return kNoId;
      chosen = nest.select(before_end[operands.size() - 2 - k], made, chosen);
    }
  }
  return chosen;
}

void element_concatenation(ElementContext& context, const Instruction& instruction, const Index& index,
                           std::span<NodeId> leaves) {
  NestBuilder& nest = context.nest;
  const auto along = static_cast<size_t>(instruction.as<DimensionsAttributes>().dimensions[0]);
  if (const NodeId chosen = folded(context, instruction, index); chosen != kNoId) {
    leaves[0] = chosen;
    return;
  }
  std::vector<std::pair<NodeId, NodeId>> choices;  // (predicate, value); else the next choice
  int64_t start = 0;
  for (const Instruction* operand : instruction.operands) {
    const int64_t extent = operand->shape.dims[along];
    if (extent == 0) continue;
    const NodeId before_end = nest.less(index[along], start + extent);
    const auto known = nest.known_integer(before_end);
    if (known != 0) {
      Index from = index;
      from[along] = nest.clamp(nest.plus(index[along], NestBuilder::fixed(-start)), 0, extent - 1);
      choices.emplace_back(before_end, nest.convert(context.element(*operand, from), instruction.shape.type));
    }
    if (known == 1) break;
    start += extent;
  }
  NodeId chosen = choices.empty() ? nest.constant(instruction.shape.type, {}) : choices.back().second;
  for (size_t k = choices.size(); k-- > 1;) chosen = nest.select(choices[k - 1].first, choices[k - 1].second, chosen);
  leaves[0] = chosen;
}

std::vector<OperandDimension> roles_of_concatenate(const Instruction& instruction, size_t operand) {
  const int64_t along = instruction.as<DimensionsAttributes>().dimensions[0];
  const int64_t rank = instruction.operand(operand).shape.rank();
  int64_t before = 0;
  for (size_t k = 0; k < operand; ++k) before += instruction.operand(k).shape.dims[along];
  std::vector<OperandDimension> roles;
  for (int64_t d = 0; d < rank; ++d) roles.push_back(pointwise(d, 1, d == along ? -before : 0));
  return roles;
}

std::optional<std::vector<RowPiece>> rows_of_concatenate(const Instruction& instruction, int64_t d) {
  std::vector<RowPiece> pieces;
  if (instruction.as<DimensionsAttributes>().dimensions[0] != d) return pieces;
  int64_t before = 0;
  for (size_t k = 0; k < instruction.operands.size(); ++k) {
    const int64_t more = instruction.operand(k).shape.dims[d];
    if (more == 0) continue;
    pieces.push_back(row_piece(instruction, before, before + more, RowPiece::Kind::kSame, k));
    pieces.back().reads[k] = {.dimension = d, .shift = -before};
    before += more;
  }
  return pieces;
}

constexpr Slicing kConcatenateSlicing{.roles = roles_of_concatenate,
                                      .sliceable = Sliceable::kInStep,
                                      .whole = ReadWhole::kScalars,
                                      .adapt = keep_attributes,
                                      .folds = never_folds,
                                      .positions = no_positions,
                                      .rows = {.pieces = rows_of_concatenate, .adapt = keep_row_attributes}};

void extents_of_concatenate(ExtentRelater& r) {
  const Instruction& i = r.instruction();
  const auto along = static_cast<size_t>(i.as<DimensionsAttributes>().dimensions[0]);
  int64_t begin = 0;
  for (size_t k = 0; k < i.operands.size(); ++k) {
    for (size_t d = 0; d < i.shape.dims.size(); ++d) {
      if (d != along) r.unite(r.mine(d), r.of_operand(k, d));
    }
    const int64_t extent = i.operand(k).shape.dims[along];
    if (extent > 0) r.cut({r.mine(along), begin, begin + extent, ExtentSum(r.of_operand(k, along)), &i, {}});
    begin += extent;
  }
}

/// Operands of equal extents are computed together and share common parts. Loops are cut where an operand ends; if they
/// can't be, each element is chosen from all operands, and these are evaluated as often as it is.
void reads_of_concatenate(OperandReads& reads) {
  const Instruction& user = reads.user();
  const int64_t along = user.as<DimensionsAttributes>().dimensions[0];
  const bool chooses = along < 64 && (reads.evaluations().walked_again >> along & 1) != 0;
  const double each = chooses ? reads.of_user() : reads.elements();
  reads.through(std::min(reads.evaluations().count, reads.repeats() * each), true);
  const bool equal = std::ranges::all_of(
      user.operands, [&](const Instruction* o) { return o->shape.dims == user.operand(0).shape.dims; });
  if (!equal) reads.depends_on(static_cast<uint64_t>(reads.operand()));
}

bool split_concatenation(SplitOperation& split, Attributes& attributes) {
  const Dims& along = std::get<DimensionsAttributes>(attributes).dimensions;
  return !split.result.splits_any(along) && split_operand_dimensions(split, attributes);
}

}  // namespace

const OpRule kConcatenateRule{.read = read_dimensions,
                              .print = print_dimensions,
                              .infer = infer_concatenation,
                              .eval = eval_concatenation,
                              .element = element_concatenation,
                              .split = split_concatenation,
                              .slicing = kConcatenateSlicing,
                              .extents = extents_of_concatenate,
                              .reads = reads_of_concatenate,
                              .arithmetic = kOneOperation};

}  // namespace lowtide::engine
