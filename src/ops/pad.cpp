/// pad: grows an array at its edges and between its elements; negative edges cut.
///   operand T[s], value T[] -> T[low + s + max(s-1,0)*interior + high]
///   (C1) an array and a scalar of one element type  (C2) one entry per dimension
///   (C3) interior >= 0  (C4) the resulting extents are not negative

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "ops/infer.h"
#include "ops/op_rule.h"

namespace lowtide {
namespace {

/// `0_0x1_2_1`: low_high or low_high_interior per dimension.
Status read(AttributeReader& reader, Instruction& instruction) {
  LT_ASSIGN_OR_RETURN(const std::string_view text, reader.take_text("padding"));
  PadAttributes pad;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    int64_t edges[3] = {0, 0, 0};
    int count = 0;
    do {
      const auto [rest, error] = std::from_chars(at, end, edges[count]);
      if (error != std::errc{}) count = 3;  // malformed
      at = rest;
      ++count;
    } while (count < 3 && at < end && *at == '_' && ++at < end);
    const bool separated = at == end || (*at == 'x' && ++at < end);
    if (count < 2 || count > 3 || !separated) {
      return reader.fault_at("padding", "expected low_high or low_high_interior per dimension, joined by x");
    }
    pad.low.push_back(edges[0]);
    pad.high.push_back(edges[1]);
    pad.interior.push_back(edges[2]);
  }
  instruction.attributes = std::move(pad);
  return {};
}

void print(const Instruction& instruction, AttributeWriter& writer) {
  const auto& pad = instruction.as<PadAttributes>();
  const bool inner = std::any_of(pad.interior.begin(), pad.interior.end(), [](int64_t n) { return n != 0; });
  std::string text;
  for (size_t d = 0; d < pad.low.size(); ++d) {
    text += fmt::format("{}{}_{}", d > 0 ? "x" : "", pad.low[d], pad.high[d]);
    if (inner) text += fmt::format("_{}", pad.interior[d]);
  }
  writer.text("padding", text);
}

Result<Shape> infer(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(check_operands(instruction, "C1", 2, kAnything));
  const Shape& operand = instruction.operand(0).shape;
  const Shape& value = instruction.operand(1).shape;
  const auto& pad = instruction.as<PadAttributes>();
  if (value.rank() != 0 || !(value.type == operand.type || (is_floating(value.type) && is_floating(operand.type)))) {
    return broken(instruction, "C1",
                  fmt::format("the padding value must be a scalar {}, got {}", type_name(operand.type),
                              to_string_without_layout(value)));
  }
  if (pad.low.size() != operand.dims.size()) {
    return broken(instruction, "C2",
                  fmt::format("padding has {} entries but operand {} has rank {}", pad.low.size(),
                              to_string_without_layout(operand), operand.rank()));
  }
  Shape result = Shape::array(operand.type, operand.dims);
  result.dynamic = operand.dynamic;
  for (size_t d = 0; d < operand.dims.size(); ++d) {
    if (pad.interior[d] < 0) {
      return broken(instruction, "C3",
                    fmt::format("interior padding {} of dimension {} is negative", pad.interior[d], d));
    }
    const int64_t extent = operand.dims[d];
    if (extent == kUnboundedDim) continue;
    int64_t padded = 0;
    if (__builtin_mul_overflow(std::max<int64_t>(extent - 1, 0), pad.interior[d], &padded) ||
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

}  // namespace

const OpRule kPadRule{.read = read, .print = print, .infer = infer};

}  // namespace lowtide
