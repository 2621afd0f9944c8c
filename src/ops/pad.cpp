/// pad: adds elements at an array's edges and between its elements; negative edges crop it.
///   operand T[s], value T[] -> T[low + s + max(s-1,0)*interior + high]
///   (C1) an array and a scalar of one element type  (C2) one entry per dimension
///   (C3) interior >= 0  (C4) the resulting extents are not negative

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "ops/dimension_roles.h"
#include "ops/elementwise.h"
#include "ops/evaluations.h"
#include "ops/extents.h"
#include "ops/rows.h"
#include "ops/strided.h"

namespace lowtide::engine {
namespace {

bool has_interior(const PadAttributes& pad) {
  return std::ranges::any_of(pad.interior, [](int64_t n) { return n != 0; });
}

/// Reads `0_0x1_2_1`: low_high or low_high_interior per dimension.
Status read_pad(AttributeReader& reader, Instruction& instruction) {
  LT_ASSIGN_OR_RETURN(const std::string_view text, reader.take_text("padding"));
  const auto malformed = [&] {
    return reader.fault_at("padding", "expected low_high or low_high_interior per dimension, joined by x");
  };
  PadAttributes pad;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&](int64_t& value) {
    const auto [rest, error] = std::from_chars(at, end, value);
    at = rest;
    return error == std::errc{};
  };
  const auto take = [&](char c) {
    if (at == end || *at != c) return false;
    ++at;
    return true;
  };
  while (at < end) {
    int64_t low = 0, high = 0, interior = 0;
    if (!number(low) || !take('_') || !number(high)) return malformed();
    if (take('_') && !number(interior)) return malformed();
    if (at < end && (!take('x') || at == end)) return malformed();
    pad.low.push_back(low);
    pad.high.push_back(high);
    pad.interior.push_back(interior);
  }
  instruction.attributes = std::move(pad);
  return {};
}

void print_pad(const Instruction& instruction, AttributeWriter& writer) {
  const auto& pad = instruction.as<PadAttributes>();
  const bool inner = has_interior(pad);
  std::string text;
  for (size_t d = 0; d < pad.low.size(); ++d) {
    text += fmt::format("{}{}_{}", d > 0 ? "x" : "", pad.low[d], pad.high[d]);
    if (inner) text += fmt::format("_{}", pad.interior[d]);
  }
  writer.text("padding", text);
}

Result<Shape> infer_pad(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(check_operands(instruction, "C1", 2, kAnything));
  const Shape& operand = instruction.operand(0).shape;
  const Shape& value = instruction.operand(1).shape;
  const auto& pad = instruction.as<PadAttributes>();
  if (value.rank() != 0 || !same_or_mixed_precision(value.type, operand.type)) {
    return broken(instruction, "C1",
                  fmt::format("the padding value must be a scalar {}, got {}", type_name(operand.type),
                              to_string_without_layout(value)));
  }
  if (pad.low.size() != operand.dims.size()) {
    return broken(instruction, "C2",
                  fmt::format("padding has {} entries but operand {} has rank {}", pad.low.size(),
                              to_string_without_layout(operand), operand.rank()));
  }
  Shape result = Shape::array(result_type(instruction, operand.type), operand.dims);
  result.dynamic = operand.dynamic;
  for (size_t d = 0; d < operand.dims.size(); ++d) {
    if (pad.interior[d] < 0) {
      return broken(instruction, "C3",
                    fmt::format("interior padding {} of dimension {} is negative", pad.interior[d], d));
    }
    const int64_t extent = operand.dims[d];
    if (extent == kUnboundedDim) continue;
    constexpr int64_t kMost = int64_t{1} << 56;  // sums and differences of a few such numbers don't overflow
    int64_t padded = 0;
    if (std::max(pad.low[d], pad.high[d]) > kMost || std::min(pad.low[d], pad.high[d]) < -kMost ||
        pad.interior[d] > kMost || __builtin_mul_overflow(std::max<int64_t>(extent - 1, 0), pad.interior[d], &padded) ||
        __builtin_add_overflow(padded, extent, &padded) || __builtin_add_overflow(padded, pad.low[d], &padded) ||
        __builtin_add_overflow(padded, pad.high[d], &padded)) {
      return broken(instruction, "", fmt::format("the padded extent of dimension {} overflows", d));
    }
    if (padded < 0) {
      return broken(instruction, "C4", fmt::format("dimension {} would have extent {} after padding", d, padded));
    }
    result.dims[d] = padded;
  }
  return checked(instruction, std::move(result));
}

Result<Value> eval_pad(const Instruction& instruction, Operands operands, EvalContext&) {
  LT_ASSIGN_OR_RETURN(const std::shared_ptr<Literal> result, new_array(instruction.shape));
  LT_ASSIGN_OR_RETURN(const Value operand, convert_elements(operands[0], instruction.shape.type));
  LT_ASSIGN_OR_RETURN(const Value value, convert_elements(operands[1], instruction.shape.type));
  fill(*result, *value);
  const auto& pad = instruction.as<PadAttributes>();
  const Dims& from = operand->shape().dims;
  const Dims& to = instruction.shape.dims;
  const Dims from_steps = row_major_strides(from), to_steps = row_major_strides(to);
  StridedCopy copy;
  for (size_t d = 0; d < from.size(); ++d) {
    // Element i of the operand goes to low + i * stride; elements in [first, last) are inside the result.
    const int64_t stride = pad.interior[d] + 1;
    const auto count_below = [&](int64_t place) {  // operand elements that go below this index
      return std::clamp<int64_t>((place - pad.low[d] + stride - 1) / stride, 0, from[d]);
    };
    const int64_t first = pad.low[d] < 0 ? count_below(0) : 0;
    const int64_t last = to[d] > pad.low[d] ? count_below(to[d]) : 0;
    copy.extents.push_back(std::max<int64_t>(last - first, 0));
    copy.from_start += first * from_steps[d];
    copy.to_start += (pad.low[d] + first * stride) * to_steps[d];
    copy.from_steps.push_back(from_steps[d]);
    copy.to_steps.push_back(copy.extents[d] > 1 ? stride * to_steps[d] : 0);
  }
  copy_strided(copy, *operand, *result);
  return Value(result);
}

void element_pad(ElementContext& context, const Instruction& instruction, const Index& index,
                 std::span<NodeId> leaves) {
  NestBuilder& nest = context.nest;
  const auto& pad = instruction.as<PadAttributes>();
  const Instruction& operand = instruction.operand(0);
  const auto padding = [&] {
    return nest.convert(context.element(instruction.operand(1), Index{}), instruction.shape.type);
  };
  NodeId inside = nest.integer(ElementType::kPred, 1);
  const auto narrow_to = [&](NodeId condition) {
    inside = nest.operation(Opcode::kAnd, ElementType::kPred, {inside, condition});
    return nest.known_integer(inside) != 0;
  };
  Index from;
  for (size_t d = 0; d < index.size(); ++d) {
    const int64_t extent = operand.shape.dims[d], step = pad.interior[d] + 1;
    const Affine offset = nest.plus(index[d], NestBuilder::fixed(-pad.low[d]));
    const int64_t last = (extent - 1) * step;
    if (extent == 0 || !narrow_to(nest.within(offset, 0, last))) {
      leaves[0] = padding();
      return;
    }
    const Affine near = nest.clamp(offset, 0, last);
    from.push_back(nest.floor_divide(near, step));
    if (step > 1 && !narrow_to(nest.within(nest.remainder(near, step), 0, 0))) {
      leaves[0] = padding();
      return;
    }
  }
  const NodeId element = nest.convert(context.element(operand, from), instruction.shape.type);
  leaves[0] = nest.known_integer(inside) ? element : nest.select(inside, element, padding());
}

std::vector<OperandDimension> roles_of_pad(const Instruction& instruction, size_t operand) {
  const auto& pad = instruction.as<PadAttributes>();
  std::vector<OperandDimension> roles(instruction.operand(operand).shape.dims.size());
  for (size_t d = 0; d < roles.size(); ++d) {
    if (pad.interior[d] == 0) roles[d] = pointwise(static_cast<int64_t>(d), 1, -pad.low[d]);
  }
  return roles;
}

std::optional<std::vector<RowPiece>> rows_of_pad(const Instruction& instruction, int64_t d) {
  const auto& pad = instruction.as<PadAttributes>();
  const auto at = static_cast<size_t>(d);
  if (pad.interior[at] != 0) return std::nullopt;
  bool bare = true;
  for (size_t k = 0; k < pad.low.size(); ++k) {
    if (k != at) bare &= pad.low[k] == 0 && pad.high[k] == 0 && pad.interior[k] == 0;
  }
  const int64_t rows = instruction.shape.dims[at];
  const int64_t begin = std::clamp<int64_t>(pad.low[at], 0, rows);
  const int64_t end = std::clamp<int64_t>(pad.low[at] + instruction.operand(0).shape.dims[at], begin, rows);
  std::vector<RowPiece> pieces;
  const auto fill_rows = [&](int64_t from, int64_t to) {
    if (from == to) return;
    pieces.push_back(row_piece(instruction, from, to, RowPiece::Kind::kFilled, 1));
    pieces.back().reads[1] = {.dimension = RowRead::kWhole};
  };
  fill_rows(0, begin);
  if (begin < end) {
    pieces.push_back(row_piece(instruction, begin, end, bare ? RowPiece::Kind::kSame : RowPiece::Kind::kMade));
    pieces.back().reads[0] = {.dimension = d, .shift = -pad.low[at]};
    if (!bare) pieces.back().reads[1] = {.dimension = RowRead::kWhole};
  }
  fill_rows(end, rows);
  return pieces;
}

void pad_no_rows(const Instruction&, const RowPiece&, int64_t d, RowRange, bool, Attributes& attributes) {
  auto& pad = std::get<PadAttributes>(attributes);
  pad.low[d] = pad.high[d] = 0;
}

constexpr Slicing kPadSlicing{.roles = roles_of_pad,
                              .sliceable = Sliceable::kInStep,
                              .whole = ReadWhole::kScalars,
                              .adapt = keep_attributes,
                              .folds = never_folds,
                              .positions = no_positions,
                              .rows = {.pieces = rows_of_pad, .adapt = pad_no_rows}};

void extents_of_pad(ExtentRelater& r) {
  const Instruction& i = r.instruction();
  const auto& a = i.as<PadAttributes>();
  for (size_t d = 0; d < i.shape.dims.size(); ++d) {
    const int64_t low = a.low[d], high = a.high[d], holes = a.interior[d];
    const int64_t from = i.operand(0).shape.dims[d], to = i.shape.dims[d];
    const Product& operand = r.of_operand(0, d);
    if (holes == 0 && low >= 0 && high >= 0) {
      r.cut({r.mine(d),
             low,
             low + from,
             ExtentSum(operand),
             &i,
             {{ExtentInterval::Mark::Counts::kBefore, ExtentTie::Slot::kLow, d},
              {ExtentInterval::Mark::Counts::kBehind, ExtentTie::Slot::kHigh, d}}});
    } else if (holes == 0 && low <= 0 && high <= 0) {
      r.cut({operand,
             -low,
             from + high,
             ExtentSum(r.mine(d)),
             &i,
             {{ExtentInterval::Mark::Counts::kBefore, ExtentTie::Slot::kLow, d, -1},
              {ExtentInterval::Mark::Counts::kBehind, ExtentTie::Slot::kHigh, d, -1}}});
    } else {
      ExtentSum zero(r.mine(d), (holes + 1) * from - to);
      r.relate(zero.add(-(holes + 1), operand), "padded with as many elements");
    }
  }
}

/// Loops are cut at edges, and read the operand only where it lies. Elements between others are chosen in lanes, each
/// of which has read one.
void reads_of_pad(OperandReads& reads) {
  const bool between = has_interior(reads.user().as<PadAttributes>());
  const double all = reads.evaluations().count;
  reads.through(between ? all : std::min(all, reads.repeats() * reads.elements()), true);
  reads.depends_on(static_cast<uint64_t>(reads.operand()));
}

bool split_pad(SplitOperation& split, Attributes& attributes) {
  auto& pad = std::get<PadAttributes>(attributes);
  for (Dims* const edges : {&pad.low, &pad.high, &pad.interior}) {
    *edges = split.operands[0].spread(*edges, [](int64_t) { return 0; });
  }
  return true;
}

}  // namespace

const OpRule kPadRule{.read = read_pad,
                      .print = print_pad,
                      .infer = infer_pad,
                      .eval = eval_pad,
                      .element = element_pad,
                      .split = split_pad,
                      .slicing = kPadSlicing,
                      .extents = extents_of_pad,
                      .reads = reads_of_pad,
                      .arithmetic = kOneOperation};

}  // namespace lowtide::engine
