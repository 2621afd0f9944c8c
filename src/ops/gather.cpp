/// gather: slices of the operand at computed starts, one per index vector.
///   operand T[s], start_indices I[b.., v] -> T[r]
///   The index vectors lie along index_vector_dim of start_indices (absent if it equals the rank: scalar indices).
///   Entry k of a vector is the start in operand dimension start_index_map[k]; starts are clamped so that the slice of
///   slice_sizes fits. offset_dims are the result's dimensions that walk the slice without its collapsed_slice_dims and
///   operand_batching_dims (which have size at most 1); the other result dimensions walk the batch of index vectors.
///   operand_batching_dims[k] of the operand follows start_indices_batching_dims[k] of the indices.
///   (C1) an array and an array of integers  (C2) 0 <= index_vector_dim <= rank of start_indices
///   (C3) start_index_map has one entry per element of an index vector
///   (C4) start_index_map and operand_batching_dims are distinct dimensions of the operand
///   (C5) one slice size per dimension, 0 <= size <= extent
///   (C6) collapsed_slice_dims and operand_batching_dims are distinct dimensions of size at most 1
///   (C7) start_indices_batching_dims pair with operand_batching_dims, equal in extent
///   (C8) offset_dims are ascending dimensions of the result, one per dimension of the slice that stays

#include <fmt/format.h>

#include <algorithm>

#include "ops/dimension_roles.h"
#include "ops/element_rules.h"
#include "ops/elementwise.h"
#include "ops/evaluations.h"
#include "ops/extents.h"
#include "ops/index_vectors.h"
#include "ops/picks.h"
#include "ops/strided.h"

namespace lowtide::engine {
namespace {

Status read_gather(AttributeReader& reader, Instruction& instruction) {
  GatherAttributes gather;
  LT_ASSIGN_OR_RETURN(gather.offset_dims, reader.take_dims("offset_dims"));
  LT_ASSIGN_OR_RETURN(gather.collapsed_slice_dims, reader.take_dims("collapsed_slice_dims"));
  LT_ASSIGN_OR_RETURN(gather.start_index_map, reader.take_dims("start_index_map"));
  LT_ASSIGN_OR_RETURN(gather.operand_batching_dims, reader.take_dims_or("operand_batching_dims", {}));
  LT_ASSIGN_OR_RETURN(gather.start_indices_batching_dims, reader.take_dims_or("start_indices_batching_dims", {}));
  LT_ASSIGN_OR_RETURN(gather.index_vector_dim, reader.take_integer("index_vector_dim"));
  LT_ASSIGN_OR_RETURN(gather.slice_sizes, reader.take_dims("slice_sizes"));
  LT_ASSIGN_OR_RETURN(gather.indices_are_sorted, reader.take_bool_or("indices_are_sorted", false));
  instruction.attributes = std::move(gather);
  return {};
}

void print_gather(const Instruction& instruction, AttributeWriter& writer) {
  const auto& gather = instruction.as<GatherAttributes>();
  writer.dims("offset_dims", gather.offset_dims);
  writer.dims("collapsed_slice_dims", gather.collapsed_slice_dims);
  writer.dims("start_index_map", gather.start_index_map);
  if (!gather.operand_batching_dims.empty()) writer.dims("operand_batching_dims", gather.operand_batching_dims);
  if (!gather.start_indices_batching_dims.empty()) {
    writer.dims("start_indices_batching_dims", gather.start_indices_batching_dims);
  }
  writer.integer("index_vector_dim", gather.index_vector_dim);
  writer.dims("slice_sizes", gather.slice_sizes);
  if (gather.indices_are_sorted) writer.boolean("indices_are_sorted", true);
}

/// Checks (C2) to (C7), which don't depend on the order of the result's dimensions.
Status check_places(const Instruction& instruction) {
  const Shape& operand = instruction.operand(0).shape;
  const Shape& indices = instruction.operand(1).shape;
  const auto& gather = instruction.as<GatherAttributes>();
  if (gather.index_vector_dim < 0 || gather.index_vector_dim > indices.rank()) {
    return broken(instruction, "C2",
                  fmt::format("index_vector_dim {} must lie in [0, {}], the rank of {}", gather.index_vector_dim,
                              indices.rank(), to_string_without_layout(indices)));
  }
  const bool scalar_indices = gather.index_vector_dim == indices.rank();
  const int64_t vector = scalar_indices ? 1 : indices.dims[gather.index_vector_dim];
  if (!agree(vector, static_cast<int64_t>(gather.start_index_map.size()))) {
    return broken(
        instruction, "C3",
        fmt::format("start_index_map has {} entries but index vectors have {}", gather.start_index_map.size(), vector));
  }
  Dims placed = gather.start_index_map;
  placed.insert(placed.end(), gather.operand_batching_dims.begin(), gather.operand_batching_dims.end());
  if (!are_distinct_dims(placed, operand.rank())) {
    return broken(instruction, "C4",
                  fmt::format("start_index_map {} and operand_batching_dims {} must be distinct dimensions of {}",
                              to_string(gather.start_index_map), to_string(gather.operand_batching_dims),
                              to_string_without_layout(operand)));
  }
  bool sizes_fit = gather.slice_sizes.size() == operand.dims.size();
  for (size_t d = 0; sizes_fit && d < operand.dims.size(); ++d) {
    sizes_fit =
        gather.slice_sizes[d] >= 0 && (operand.dims[d] == kUnboundedDim || gather.slice_sizes[d] <= operand.dims[d]);
  }
  if (!sizes_fit) {
    return broken(instruction, "C5",
                  fmt::format("slice_sizes {} must have one entry per dimension of {}, within its extents",
                              to_string(gather.slice_sizes), to_string_without_layout(operand)));
  }
  Dims dropped = gather.collapsed_slice_dims;
  dropped.insert(dropped.end(), gather.operand_batching_dims.begin(), gather.operand_batching_dims.end());
  bool thin = are_distinct_dims(dropped, operand.rank());
  for (size_t i = 0; thin && i < dropped.size(); ++i) thin = gather.slice_sizes[dropped[i]] <= 1;
  if (!thin) {
    return broken(instruction, "C6",
                  fmt::format("collapsed_slice_dims {} and operand_batching_dims {} must be distinct dimensions of "
                              "size at most 1 in slice_sizes {}",
                              to_string(gather.collapsed_slice_dims), to_string(gather.operand_batching_dims),
                              to_string(gather.slice_sizes)));
  }
  const Dims& batch = gather.start_indices_batching_dims;
  bool paired = batch.size() == gather.operand_batching_dims.size() && are_distinct_dims(batch, indices.rank()) &&
                !contains(batch, gather.index_vector_dim);
  for (size_t i = 0; paired && i < batch.size(); ++i) {
    paired = agree(indices.dims[batch[i]], operand.dims[gather.operand_batching_dims[i]]);
  }
  if (!paired) {
    return broken(instruction, "C7",
                  fmt::format("start_indices_batching_dims {} of {} must pair with operand_batching_dims {} of {}",
                              to_string(batch), to_string_without_layout(indices),
                              to_string(gather.operand_batching_dims), to_string_without_layout(operand)));
  }
  return {};
}

Result<Shape> infer_gather(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(check_operands(instruction, "C1", 2, kAnything));
  const Shape& operand = instruction.operand(0).shape;
  const Shape& indices = instruction.operand(1).shape;
  if (!(kind_of(indices.type) & kIntegers)) {
    return broken(instruction, "C1",
                  fmt::format("the indices must be integers, got {}", to_string_without_layout(indices)));
  }
  LT_RETURN_IF_ERROR(check_places(instruction));
  const auto& gather = instruction.as<GatherAttributes>();
  Dims batch, offsets;
  for (int64_t d = 0; d < indices.rank(); ++d) {
    if (d != gather.index_vector_dim) batch.push_back(indices.dims[d]);
  }
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (!contains(gather.collapsed_slice_dims, d) && !contains(gather.operand_batching_dims, d)) {
      offsets.push_back(gather.slice_sizes[d]);
    }
  }
  const auto rank = static_cast<int64_t>(batch.size() + offsets.size());
  if (gather.offset_dims.size() != offsets.size() || !are_distinct_dims(gather.offset_dims, rank) ||
      !std::is_sorted(gather.offset_dims.begin(), gather.offset_dims.end())) {
    return broken(instruction, "C8",
                  fmt::format("offset_dims {} must be {} ascending dimensions of a result of rank {}",
                              to_string(gather.offset_dims), offsets.size(), rank));
  }
  Shape result = Shape::array(moved_type(instruction, operand.type), {});
  size_t next_batch = 0, next_offset = 0;
  for (int64_t d = 0; d < rank; ++d) {
    result.dims.push_back(contains(gather.offset_dims, d) ? offsets[next_offset++] : batch[next_batch++]);
  }
  return checked(instruction, std::move(result));
}

Result<Value> eval_gather(const Instruction& instruction, Operands operands, EvalContext&) {
  LT_ASSIGN_OR_RETURN(const std::shared_ptr<Literal> result, new_array(instruction.shape));
  LT_ASSIGN_OR_RETURN(const Value operand, convert_elements(operands[0], instruction.shape.type));
  if (result->size() == 0 || operand->size() == 0) return Value(result);
  const auto& gather = instruction.as<GatherAttributes>();
  const Dims& extents = operand->shape().dims;
  const Dims steps = row_major_strides(extents), result_steps = row_major_strides(instruction.shape.dims);
  const IndexVectors indices(*operands[1], gather.index_vector_dim);

  // The copy of one slice: its dimensions of more than one element, outermost first.
  StridedCopy slice;
  size_t next_offset = 0;
  for (size_t d = 0; d < extents.size(); ++d) {
    const auto dim = static_cast<int64_t>(d);
    if (contains(gather.collapsed_slice_dims, dim) || contains(gather.operand_batching_dims, dim)) continue;
    const auto offset = static_cast<size_t>(gather.offset_dims[next_offset++]);
    if (gather.slice_sizes[d] == 1) continue;
    slice.extents.push_back(gather.slice_sizes[d]);
    slice.from_steps.push_back(steps[d]);
    slice.to_steps.push_back(result_steps[offset]);
  }
  Dims batch_steps;  // the result's steps along the batch of index vectors
  for (int64_t d = 0; d < instruction.shape.rank(); ++d) {
    if (!contains(gather.offset_dims, d)) batch_steps.push_back(result_steps[d]);
  }

  Dims batch(batch_steps.size(), 0);
  do {
    slice.from_start = slice.to_start = 0;
    for (size_t d = 0; d < batch.size(); ++d) slice.to_start += batch[d] * batch_steps[d];
    for (size_t k = 0; k < gather.start_index_map.size(); ++k) {
      const auto d = static_cast<size_t>(gather.start_index_map[k]);
      const int64_t last = extents[d] - std::max<int64_t>(gather.slice_sizes[d], 1);
      slice.from_start += std::clamp<int64_t>(indices.at(batch, k), 0, last) * steps[d];
    }
    for (size_t k = 0; k < gather.operand_batching_dims.size(); ++k) {
      const int64_t place = batch[indices.batch_dimension(gather.start_indices_batching_dims[k])];
      slice.from_start += place * steps[gather.operand_batching_dims[k]];
    }
    copy_strided(slice, *operand, *result);
  } while (advance(batch, indices.batch()));
  return Value(result);
}

std::vector<OperandDimension> roles_of_gather(const Instruction& instruction, size_t operand) {
  const auto& gather = instruction.as<GatherAttributes>();
  const Shape& shape = instruction.operand(operand).shape;
  std::vector<OperandDimension> roles(shape.dims.size());
  Dims batch;  // result dimensions along the batch of index vectors
  for (int64_t d = 0; d < instruction.shape.rank(); ++d) {
    if (!contains(gather.offset_dims, d)) batch.push_back(d);
  }
  const auto place = [&](int64_t d) { return batch[d < gather.index_vector_dim ? d : d - 1]; };
  if (operand == 1) {
    for (int64_t d = 0; d < shape.rank(); ++d) {
      if (d != gather.index_vector_dim) roles[d] = pointwise(place(d));
    }
    return roles;
  }
  for (size_t k = 0; k < gather.operand_batching_dims.size(); ++k) {
    roles[gather.operand_batching_dims[k]] = pointwise(place(gather.start_indices_batching_dims[k]));
  }
  size_t next = 0;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (contains(gather.collapsed_slice_dims, d) || contains(gather.operand_batching_dims, d)) continue;
    const int64_t along = gather.offset_dims[next++];
    const bool whole = gather.slice_sizes[d] == shape.dims[d];
    if (whole) roles[d] = pointwise(along);
  }
  return roles;
}

/// If d is a dimension that each gathered slice has whole, reduces its slice size.
void size_gathered(const Instruction& original, int64_t d, int64_t size, Attributes& attributes) {
  auto& gather = std::get<GatherAttributes>(attributes);
  const std::vector<OperandDimension> roles = roles_of_gather(original, 0);
  for (size_t j = 0; j < roles.size(); ++j) {
    const bool batching = contains(gather.operand_batching_dims, static_cast<int64_t>(j));
    if (roles[j].result_dimension == d && !batching) gather.slice_sizes[j] = size;
  }
}

bool folds_of_gather(const Instruction& instruction, size_t operand, int64_t d) {
  return operand == 0 && picks_along(instruction, d).has_value();
}

constexpr Slicing kGatherSlicing{.roles = roles_of_gather,
                                 .sliceable = Sliceable::kInStep,
                                 .whole = ReadWhole::kAny,
                                 .adapt = size_gathered,
                                 .folds = folds_of_gather,
                                 .positions = no_positions,
                                 .rows = kRowsInStep};

void extents_of_gather(ExtentRelater& r) {
  const Instruction& i = r.instruction();
  extents_by_roles(r);
  const auto& a = i.as<GatherAttributes>();
  size_t next = 0;
  for (size_t d = 0; d < i.operand(0).shape.dims.size(); ++d) {
    const auto place = static_cast<int64_t>(d);
    if (contains(a.collapsed_slice_dims, place) || contains(a.operand_batching_dims, place)) continue;
    const Product& part = r.mine(static_cast<size_t>(a.offset_dims[next++]));
    r.at_most(part, r.of_operand(0, d));
    r.tie(ExtentTie::Slot::kSize, d, ExtentSum(part));
  }
  if (a.index_vector_dim < i.operand(1).shape.rank()) {
    r.freeze(r.of_operand(1, static_cast<size_t>(a.index_vector_dim)), "numbers of an index");
  }
}

void reads_of_gather(OperandReads& reads) {
  const auto& gather = reads.user().as<GatherAttributes>();
  const double count = reads.evaluations().count;
  if (reads.operand() == 0) {
    reads.depends_on(static_cast<uint64_t>(reads.user().operand(1).id));
    return reads.through(count, false);
  }
  // A table look-up: one index per element, without a dimension for index vectors.
  if (reads.user().shape.dims == reads.read().dims && gather.offset_dims.empty()) return;
  reads.through(std::max(reads.elements(), count / product_of_extents(gather.slice_sizes)), true);
}

bool split_gather(SplitOperation& split, Attributes& attributes) {
  auto& gather = std::get<GatherAttributes>(attributes);
  const SplitDims &array = split.operands[0], &indices = split.operands[1];
  if (array.splits_any(gather.start_index_map)) return false;
  gather.offset_dims = split.result.numbers(gather.offset_dims);
  gather.collapsed_slice_dims = array.numbers(gather.collapsed_slice_dims);
  gather.start_index_map = array.numbers(gather.start_index_map);
  gather.operand_batching_dims = array.numbers(gather.operand_batching_dims);
  gather.start_indices_batching_dims = indices.numbers(gather.start_indices_batching_dims);
  gather.index_vector_dim = indices.number(gather.index_vector_dim);
  gather.slice_sizes = array.spread(gather.slice_sizes, [](int64_t extent) { return extent; });
  for (const int64_t d : gather.operand_batching_dims) gather.slice_sizes[d] = 1;
  return true;
}

}  // namespace

std::optional<Positions> picks_along(const Instruction& i, int64_t d) {
  const auto* gather = i.if_as<GatherAttributes>();
  if (gather == nullptr) return std::nullopt;
  const auto entry = std::ranges::find(gather->start_index_map, d);
  if (entry == gather->start_index_map.end() || gather->slice_sizes[d] != 1) return std::nullopt;
  const Shape &operand = i.operand(0).shape, &indices = i.operand(1).shape;
  if (!holds_position(indices.type, operand.dims[d])) return std::nullopt;
  return Positions{.operand = 1,
                   .vectors = gather->index_vector_dim < indices.rank() ? gather->index_vector_dim : -1,
                   .entry = entry - gather->start_index_map.begin()};
}

const OpRule kGatherRule{
    .read = read_gather,
    .print = print_gather,
    .infer = infer_gather,
    .eval = eval_gather,
    .element = element_gather,
    .split = split_gather,
    .slicing = kGatherSlicing,
    .extents = extents_of_gather,
    .reads = reads_of_gather,
    .arithmetic = {.plain = 15, .complex = 15, .code = 1, .rounds = Rounds::kNever, .terms = no_sum}};

}  // namespace lowtide::engine
