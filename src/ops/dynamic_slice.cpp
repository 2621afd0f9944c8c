/// dynamic-slice: a window of fixed size at a computed start, clamped so that the window is inside the operand.
///   operand T[s], start indices -> T[sizes], result[i] = operand[clamp(0, start, s - sizes) + i]
///   (C1) the operand is an array  (C2) one size per dimension, 0 <= size <= extent
///   (C3) the start indices are scalar integers, one per dimension; readers split the single vector of older texts
///
/// dynamic-update-slice: the operand with such a window replaced by the update.
///   operand T[s], update T[u], start indices -> T[s]
///   (C1) operand and update are arrays of one element type
///   (C2) the update has the operand's rank and fits into it  (C3) as above

#include <fmt/format.h>

#include <algorithm>

#include "ir/literal.h"
#include "ops/dimension_roles.h"
#include "ops/element_rules.h"
#include "ops/elementwise.h"
#include "ops/evaluations.h"
#include "ops/extents.h"
#include "ops/rows.h"
#include "ops/start_elements.h"
#include "ops/start_indices.h"
#include "ops/strided.h"

namespace lowtide::engine {
namespace {

Status read_dynamic_slice(AttributeReader& reader, Instruction& instruction) {
  LT_ASSIGN_OR_RETURN(Dims sizes, reader.take_dims("dynamic_slice_sizes"));
  instruction.attributes = DynamicSliceAttributes{std::move(sizes)};
  return {};
}

void print_dynamic_slice(const Instruction& instruction, AttributeWriter& writer) {
  writer.dims("dynamic_slice_sizes", instruction.as<DynamicSliceAttributes>().sizes);
}

bool fits(const Dims& sizes, const Dims& extents) {
  if (sizes.size() != extents.size()) return false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] < 0 || (sizes[d] > extents[d] && extents[d] != kUnboundedDim)) return false;
  }
  return true;
}

Result<Shape> infer_dynamic_slice(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(check_operands(instruction, "C1", kAnyArity, kAnything));
  const Shape& operand = instruction.operand(0).shape;
  const Dims& sizes = instruction.as<DynamicSliceAttributes>().sizes;
  if (!fits(sizes, operand.dims)) {
    return broken(instruction, "C2",
                  fmt::format("dynamic_slice_sizes {} must have one entry per dimension of {}, within its extents",
                              to_string(sizes), to_string_without_layout(operand)));
  }
  LT_RETURN_IF_ERROR(check_start_indices(instruction, "C3", 1, operand.rank()));
  return Shape::array(moved_type(instruction, operand.type), sizes);
}

Result<Shape> infer_update(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(check_operands(instruction, "C1", kAnyArity, kAnything));
  if (instruction.operands.size() < 2) return broken(instruction, "C1", "expects an operand and an update");
  const Shape& operand = instruction.operand(0).shape;
  const Shape& update = instruction.operand(1).shape;
  if (!same_or_mixed_precision(operand.type, update.type)) {
    return broken(instruction, "C1",
                  fmt::format("operand and update must have one element type, got {} and {}", type_name(operand.type),
                              type_name(update.type)));
  }
  if (!fits(update.dims, operand.dims)) {
    return broken(instruction, "C2",
                  fmt::format("update {} must fit into operand {}", to_string_without_layout(update),
                              to_string_without_layout(operand)));
  }
  LT_RETURN_IF_ERROR(check_start_indices(instruction, "C3", 2, operand.rank()));
  return with_type(operand, result_type(instruction, operand.type));
}

Result<Value> eval_slice(const Instruction& instruction, Operands operands, EvalContext&) {
  LT_ASSIGN_OR_RETURN(const std::shared_ptr<Literal> result, new_array(instruction.shape));
  LT_ASSIGN_OR_RETURN(const Value operand, convert_elements(operands[0], instruction.shape.type));
  const Dims& extents = operand->shape().dims;
  const Dims starts = clamped_starts(operands.subspan(1), extents, instruction.shape.dims);
  copy_out_of(*operand, *result, starts, Dims(extents.size(), 1));
  return Value(result);
}

Result<Value> eval_update(const Instruction& instruction, Operands operands, EvalContext&) {
  LT_ASSIGN_OR_RETURN(const Value operand, convert_elements(operands[0], instruction.shape.type));
  LT_ASSIGN_OR_RETURN(const Value update, convert_elements(operands[1], instruction.shape.type));
  const auto result = std::make_shared<Literal>(*operand);
  const Dims starts = clamped_starts(operands.subspan(2), operand->shape().dims, update->shape().dims);
  copy_into(*update, *result, starts);
  return Value(result);
}

void element_slice(ElementContext& context, const Instruction& instruction, const Index& index,
                   std::span<NodeId> leaves) {
  NestBuilder& nest = context.nest;
  const Instruction& operand = instruction.operand(0);
  Index from = index;
  for (size_t d = 0; d < index.size(); ++d) {
    const int64_t extent = operand.shape.dims[d], size = instruction.shape.dims[d];
    if (size == extent) continue;
    from[d] = nest.plus(clamped_start(nest, start_element(context, instruction, 1, d), extent, size), index[d]);
  }
  leaves[0] = nest.convert(context.element(operand, from), instruction.shape.type);
}

/// Dimensions that the window covers whole are pointwise; operands from number `arrays` on are start indices.
template <size_t arrays>
std::vector<OperandDimension> roles_of_dynamic(const Instruction& instruction, size_t operand) {
  const Dims& dims = instruction.operand(operand).shape.dims;
  std::vector<OperandDimension> roles(dims.size());
  for (size_t d = 0; operand < arrays && d < roles.size(); ++d) {
    if (dims[d] == instruction.shape.dims[d]) roles[d] = pointwise(static_cast<int64_t>(d));
  }
  return roles;
}

void size_slice(const Instruction&, int64_t d, int64_t size, Attributes& attributes) {
  std::get<DynamicSliceAttributes>(attributes).sizes[d] = size;
}

constexpr Slicing kDynamicSliceSlicing{.roles = roles_of_dynamic<1>,
                                       .sliceable = Sliceable::kInStep,
                                       .whole = ReadWhole::kScalars,
                                       .adapt = size_slice,
                                       .folds = never_folds,
                                       .positions = no_positions,
                                       .rows = kRowsInStep};

std::optional<std::vector<RowPiece>> rows_of_update(const Instruction& update, int64_t d) {
  const auto at = static_cast<size_t>(d);
  const int64_t rows = update.shape.dims[at], more = update.operand(1).shape.dims[at];
  std::vector<RowPiece> pieces;
  if (more == rows) return pieces;
  const auto* start = update.operand(2 + at).if_as<ConstantAttributes>();
  if (start == nullptr || !start->value || !start->value->known() || more == 0) return std::nullopt;
  const int64_t begin = std::clamp<int64_t>(index_at(*start->value, 0), 0, rows - more);
  const auto keep = [&](int64_t from, int64_t to) {
    if (from == to) return;
    pieces.push_back(row_piece(update, from, to, RowPiece::Kind::kSame));
    pieces.back().reads[0] = {.dimension = d};
  };
  keep(0, begin);
  // If the update has as many rows as the operand, its start along them is clamped to 0, whatever the start index.
  const bool all = same_beside(update.shape, update.operand(1).shape, d);
  RowPiece piece = row_piece(update, begin, begin + more, all ? RowPiece::Kind::kSame : RowPiece::Kind::kMade, 1);
  piece.reads[1] = {.dimension = d, .shift = -begin};
  if (!all) {
    piece.reads[0] = {.dimension = d};
    for (size_t k = 2; k < update.operands.size(); ++k) piece.reads[k] = {.dimension = RowRead::kWhole};
  }
  pieces.push_back(std::move(piece));
  keep(begin + more, rows);
  return pieces;
}

constexpr Slicing kUpdateSlicing{.roles = roles_of_dynamic<2>,
                                 .sliceable = Sliceable::kInStep,
                                 .whole = ReadWhole::kScalars,
                                 .adapt = keep_attributes,
                                 .folds = never_folds,
                                 .positions = no_positions,
                                 .rows = {.pieces = rows_of_update, .adapt = keep_row_attributes}};

void extents_of_dynamic_slice(ExtentRelater& r) {
  for (size_t d = 0; d < r.instruction().shape.dims.size(); ++d) {
    r.tie(ExtentTie::Slot::kSize, d, ExtentSum(r.mine(d)));
    r.at_most(r.mine(d), r.of_operand(0, d));
  }
}

void extents_of_update(ExtentRelater& r) {
  const Instruction& i = r.instruction();
  r.same(i, 0, i.operand(0), 0);
  for (size_t d = 0; d < i.shape.dims.size(); ++d) r.at_most(r.of_operand(1, d), r.of_operand(0, d));
}

void reads_of_dynamic_slice(OperandReads& reads) {
  for (const Instruction* o : reads.user().operands) reads.depends_on(static_cast<uint64_t>(o->id));
  reads_in_order(reads);
}

void reads_of_update(OperandReads& reads) { reads.through(reads.evaluations().count, reads.operand() == 0); }

bool split_dynamic_slice(SplitOperation& split, Attributes& attributes) {
  Dims& sizes = std::get<DynamicSliceAttributes>(attributes).sizes;
  sizes = split.operands[0].spread(sizes, [](int64_t extent) { return extent; });
  split.indices = 1;
  return true;
}

/// An update that covers a part of a dimension can't be split like the dimension.
bool split_update(SplitOperation& split, Attributes&) {
  split.indices = 2;
  const int64_t rank = std::ssize(split.operands) - 2;
  for (int64_t d = 1; d <= rank; ++d) {
    if (split.operands[0].number(d) != split.operands[1].number(d)) return false;
  }
  return true;
}

}  // namespace

const OpRule kDynamicSliceRule{.read = read_dynamic_slice,
                               .print = print_dynamic_slice,
                               .infer = infer_dynamic_slice,
                               .eval = eval_slice,
                               .element = element_slice,
                               .split = split_dynamic_slice,
                               .slicing = kDynamicSliceSlicing,
                               .extents = extents_of_dynamic_slice,
                               .reads = reads_of_dynamic_slice,
                               .arithmetic = kQuarterOperation};
const OpRule kDynamicUpdateSliceRule{.infer = infer_update,
                                     .eval = eval_update,
                                     .element = element_dynamic_update_slice,
                                     .stored_box = stored_box_of_dynamic_update_slice,
                                     .store = store_dynamic_update_slice,
                                     .has_update = has_update_dynamic_update_slice,
                                     .updated_operand = updated_operand_of_dynamic_update_slice,
                                     .split = split_update,
                                     .slicing = kUpdateSlicing,
                                     .extents = extents_of_update,
                                     .reads = reads_of_update,
                                     .arithmetic = kOneOperation};

}  // namespace lowtide::engine
