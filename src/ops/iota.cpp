/// iota: an array whose elements count along one dimension.
///   -> T[s], result[i] = i[d] for d = iota_dimension
///   (C1) the declared shape is an array of numbers  (C2) 0 <= iota_dimension < rank

#include <fmt/format.h>

#include "ops/dimension_roles.h"
#include "ops/numbers.h"
#include "ops/op_rule.h"
#include "ops/rows.h"
#include "ops/strided.h"

namespace lowtide::engine {
namespace {

Status read_iota(AttributeReader& reader, Instruction& instruction) {
  LT_ASSIGN_OR_RETURN(const int64_t dimension, reader.take_integer("iota_dimension"));
  instruction.attributes = IotaAttributes{dimension};
  return {};
}

void print_iota(const Instruction& instruction, AttributeWriter& writer) {
  writer.integer("iota_dimension", instruction.as<IotaAttributes>().dimension);
}

Result<Shape> infer_iota(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(check_declared(instruction, "C1", kNumbers));
  const int64_t dimension = instruction.as<IotaAttributes>().dimension;
  if (dimension < 0 || dimension >= instruction.shape.rank()) {
    return broken(instruction, "C2",
                  fmt::format("iota_dimension must be a dimension of {}, got {}",
                              to_string_without_layout(instruction.shape), dimension));
  }
  return instruction.shape;
}

Result<Value> eval_iota(const Instruction& instruction, Operands, EvalContext&) {
  LT_ASSIGN_OR_RETURN(const std::shared_ptr<Literal> result, new_array(instruction.shape));
  const auto along = static_cast<size_t>(instruction.as<IotaAttributes>().dimension);
  const int64_t extent = instruction.shape.dims[along];
  const int64_t step = row_major_strides(instruction.shape.dims)[along];
  dispatch(instruction.shape.type, [&]<class T>() {
    const std::span<T> elements = result->data<T>();
    for (size_t i = 0; i < elements.size(); ++i) {
      const int64_t count = static_cast<int64_t>(i) / step % extent;
      if constexpr (is_complex_v<T>) {
        elements[i] = T(static_cast<typename T::value_type>(count));
      } else {
        elements[i] = narrow<T>(static_cast<computed_t<T>>(count));
      }
    }
  });
  return Value(result);
}

void element_iota(ElementContext& context, const Instruction& instruction, const Index& index,
                  std::span<NodeId> leaves) {
  NestBuilder& nest = context.nest;
  const auto along = static_cast<size_t>(instruction.as<IotaAttributes>().dimension);
  NodeId count = nest.value_of(index[along]);
  // Converting s32 to floats is faster than converting s64.
  if (instruction.shape.dims[along] <= INT32_MAX) count = nest.convert(count, ElementType::kS32);
  leaves[0] = nest.convert(count, instruction.shape.type);
}

/// Rows that are counted are computed by adding the first row's number, in an integer type that holds all numbers.
std::optional<std::vector<RowPiece>> rows_of_iota(const Instruction& instruction, int64_t d) {
  const ElementType type = instruction.shape.type;
  const bool exact =
      type == ElementType::kS32 || type == ElementType::kU32 || type == ElementType::kS64 || type == ElementType::kU64;
  if (instruction.as<IotaAttributes>().dimension == d && !exact) return std::nullopt;
  const int64_t rows = instruction.shape.dims[d];
  return std::vector<RowPiece>{row_piece(instruction, 0, rows, RowPiece::Kind::kMade)};
}

std::optional<Positions> positions_of_iota(const Instruction& iota, int64_t d) {
  if (iota.as<IotaAttributes>().dimension != d) return std::nullopt;
  return Positions();
}

constexpr Slicing kIotaSlicing{.roles = opaque_dimensions,
                               .sliceable = Sliceable::kAlways,
                               .whole = ReadWhole::kScalars,
                               .adapt = keep_attributes,
                               .folds = never_folds,
                               .positions = positions_of_iota,
                               .rows = {.pieces = rows_of_iota, .adapt = keep_row_attributes}};

bool split_iota(SplitOperation& split, Attributes& attributes) {
  int64_t& d = std::get<IotaAttributes>(attributes).dimension;
  if (split.result.is_split(static_cast<size_t>(d))) return false;
  d = split.result.number(d);
  return true;
}

}  // namespace

const OpRule kIotaRule{.read = read_iota,
                       .print = print_iota,
                       .infer = infer_iota,
                       .eval = eval_iota,
                       .element = element_iota,
                       .split = split_iota,
                       .slicing = kIotaSlicing,
                       .extents = free_extents,
                       .reads = reads_anywhere,
                       .arithmetic = kOneOperation};

}  // namespace lowtide::engine
