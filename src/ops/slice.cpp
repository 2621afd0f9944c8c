/// slice: every stride-th element between fixed bounds.
///   operand T[s] -> T[r], r[d] = ceil((limit[d] - start[d]) / stride[d]), result[i] = operand[start + i * stride]
///   (C1) the operand is an array  (C2) one entry per dimension
///   (C3) 0 <= start <= limit <= extent  (C4) stride >= 1

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "ops/dimension_roles.h"
#include "ops/elementwise.h"
#include "ops/extents.h"
#include "ops/rows.h"
#include "ops/strided.h"

namespace lowtide::engine {
namespace {

/// Reads `{[0:4], [1:9:2]}`.
Status read_slice(AttributeReader& reader, Instruction& instruction) {
  LT_ASSIGN_OR_RETURN(const std::string_view text, reader.take_text("slice"));
  const auto malformed = [&] {
    return reader.fault_at("slice", "expected {[start:limit:stride], ...}, one entry per dimension");
  };
  SliceAttributes slice;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto skip = [&] {
    while (at < end && (*at == ' ' || *at == ',' || *at == '\n' || *at == '\t' || *at == '\r')) ++at;
  };
  const auto take = [&](char c) { return skip(), at < end && *at == c ? (++at, true) : false; };
  const auto number = [&](int64_t& value) {
    skip();
    const auto [rest, error] = std::from_chars(at, end, value);
    at = rest;
    return error == std::errc{};
  };
  if (!take('{')) return malformed();
  while (!take('}')) {
    int64_t start = 0, limit = 0, stride = 1;
    if (!take('[') || !number(start) || !take(':') || !number(limit)) return malformed();
    if (take(':') && !number(stride)) return malformed();
    if (!take(']')) return malformed();
    slice.starts.push_back(start);
    slice.limits.push_back(limit);
    slice.strides.push_back(stride);
  }
  skip();
  if (at != end) return malformed();
  instruction.attributes = std::move(slice);
  return {};
}

void print_slice(const Instruction& instruction, AttributeWriter& writer) {
  const auto& slice = instruction.as<SliceAttributes>();
  bool strided = false;
  for (const int64_t stride : slice.strides) strided = strided || stride != 1;
  std::string text = "{";
  for (size_t d = 0; d < slice.starts.size(); ++d) {
    text += fmt::format("{}[{}:{}", d > 0 ? ", " : "", slice.starts[d], slice.limits[d]);
    text += strided ? fmt::format(":{}]", slice.strides[d]) : "]";
  }
  writer.text("slice", text + "}");
}

Result<Shape> infer_slice(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(check_operands(instruction, "C1", 1, kAnything));
  const Shape& operand = instruction.operand(0).shape;
  const auto& slice = instruction.as<SliceAttributes>();
  if (slice.starts.size() != operand.dims.size()) {
    return broken(instruction, "C2",
                  fmt::format("slice has {} entries but operand {} has rank {}", slice.starts.size(),
                              to_string_without_layout(operand), operand.rank()));
  }
  Shape result = Shape::array(moved_type(instruction, operand.type), {});
  for (size_t d = 0; d < operand.dims.size(); ++d) {
    const int64_t start = slice.starts[d], limit = slice.limits[d], stride = slice.strides[d];
    const bool inside = operand.dims[d] == kUnboundedDim || limit <= operand.dims[d];
    if (start < 0 || start > limit || !inside) {
      return broken(instruction, "C3",
                    fmt::format("[{}:{}] does not lie in dimension {} of {}", start, limit, d,
                                to_string_without_layout(operand)));
    }
    if (stride < 1) return broken(instruction, "C4", fmt::format("stride {} of dimension {} is below 1", stride, d));
    result.dims.push_back((limit - start) / stride + ((limit - start) % stride != 0 ? 1 : 0));
  }
  return result;
}

Result<Value> eval_slice(const Instruction& instruction, Operands operands, EvalContext&) {
  LT_ASSIGN_OR_RETURN(const std::shared_ptr<Literal> result, new_array(instruction.shape));
  LT_ASSIGN_OR_RETURN(const Value operand, convert_elements(operands[0], instruction.shape.type));
  const auto& slice = instruction.as<SliceAttributes>();
  copy_out_of(*operand, *result, slice.starts, slice.strides);
  return Value(result);
}

void element_slice(ElementContext& context, const Instruction& instruction, const Index& index,
                   std::span<NodeId> leaves) {
  NestBuilder& nest = context.nest;
  const auto& slice = instruction.as<SliceAttributes>();
  Index from;
  for (size_t d = 0; d < index.size(); ++d) {
    from.push_back(nest.plus(nest.times(index[d], slice.strides[d]), NestBuilder::fixed(slice.starts[d])));
  }
  leaves[0] = nest.convert(context.element(instruction.operand(0), from), instruction.shape.type);
}

std::vector<OperandDimension> roles_of_slice(const Instruction& instruction, size_t) {
  const auto& slice = instruction.as<SliceAttributes>();
  std::vector<OperandDimension> roles;
  for (size_t d = 0; d < slice.starts.size(); ++d) {
    roles.push_back(pointwise(static_cast<int64_t>(d), slice.strides[d], slice.starts[d]));
  }
  return roles;
}

void limit_slice(const Instruction&, int64_t d, int64_t size, Attributes& attributes) {
  std::get<SliceAttributes>(attributes).limits[d] = size;
}

std::optional<std::vector<RowPiece>> rows_of_slice(const Instruction& instruction, int64_t d) {
  const auto& slice = instruction.as<SliceAttributes>();
  const auto at = static_cast<size_t>(d);
  if (slice.strides[at] != 1) return std::nullopt;
  const bool all = std::ranges::all_of(slice.strides, [](int64_t stride) { return stride == 1; });
  const bool same = all && same_beside(instruction.shape, instruction.operand(0).shape, d);
  const auto kind = same ? RowPiece::Kind::kSame : RowPiece::Kind::kMade;
  RowPiece piece = row_piece(instruction, 0, instruction.shape.dims[at], kind);
  piece.reads[0] = {.dimension = d, .shift = slice.starts[at]};
  return std::vector<RowPiece>{std::move(piece)};
}

void start_slice_at_rows(const Instruction&, const RowPiece&, int64_t d, RowRange rows, bool, Attributes& attributes) {
  auto& slice = std::get<SliceAttributes>(attributes);
  slice.starts[d] = 0;
  slice.limits[d] = rows.end - rows.begin;
}

constexpr Slicing kSliceSlicing{.roles = roles_of_slice,
                                .sliceable = Sliceable::kInStep,
                                .whole = ReadWhole::kScalars,
                                .adapt = limit_slice,
                                .folds = never_folds,
                                .positions = no_positions,
                                .rows = {.pieces = rows_of_slice, .adapt = start_slice_at_rows}};

void extents_of_slice(ExtentRelater& r) {
  const Instruction& i = r.instruction();
  const auto& a = i.as<SliceAttributes>();
  for (size_t d = 0; d < i.shape.dims.size(); ++d) {
    const int64_t stride = a.strides[d], count = i.shape.dims[d];
    const Product& whole = r.of_operand(0, d);
    if (count == i.operand(0).shape.dims[d] && stride == 1) {
      r.unite(r.mine(d), whole);
      r.tie(ExtentTie::Slot::kLimit, d, ExtentSum(r.mine(d)));
      continue;
    }
    if (count == 0) {
      r.freeze(whole, "an empty slice");
      continue;
    }
    ExtentSum span;
    span.add(stride, r.mine(d)).constant = 1 - stride;
    const int64_t end = a.starts[d] + stride * (count - 1) + 1;
    r.cut({whole,
           a.starts[d],
           end,
           span,
           &i,
           {{ExtentInterval::Mark::Counts::kBefore, ExtentTie::Slot::kStart, d},
            {ExtentInterval::Mark::Counts::kUntil, ExtentTie::Slot::kLimit, d, 1, a.limits[d] - end}}});
  }
}

bool split_slice(SplitOperation& split, Attributes& attributes) {
  auto& slice = std::get<SliceAttributes>(attributes);
  slice.starts = split.operands[0].spread(slice.starts, [](int64_t) { return 0; });
  slice.limits = split.operands[0].spread(slice.limits, [](int64_t extent) { return extent; });
  slice.strides = split.operands[0].spread(slice.strides, [](int64_t) { return 1; });
  return true;
}

}  // namespace

const OpRule kSliceRule{.read = read_slice,
                        .print = print_slice,
                        .infer = infer_slice,
                        .eval = eval_slice,
                        .element = element_slice,
                        .split = split_slice,
                        .slicing = kSliceSlicing,
                        .extents = extents_of_slice,
                        .reads = reads_in_order,
                        .arithmetic = kQuarterOperation};

}  // namespace lowtide::engine
