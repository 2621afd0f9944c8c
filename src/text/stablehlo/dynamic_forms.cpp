// Dynamic operations, which take as operands what others have as attributes. Unless their result types determine these,
// the operands must be computed from constants and from known extents.
#include <fmt/format.h>

#include <algorithm>

#include "ops/no_calls.h"
#include "ops/op_rule.h"
#include "text/stablehlo/mlir_types.h"
#include "text/stablehlo/operations.h"

namespace lowtide::engine {
namespace {

using Scope = ModuleMaker::Scope;
using Arrays = std::vector<Instruction*>;

/// The value of a small array of integers that is computed from constants and from the extents of arrays.
std::optional<Value> known_value(const Instruction& i, int depth = 0) {
  constexpr int kDeepest = 64;
  constexpr int64_t kMostElements = 4096;
  if (const auto* constant = i.if_as<ConstantAttributes>()) {
    return constant->value->known() ? std::optional(constant->value) : std::nullopt;
  }
  const bool integers = i.shape.is_array() && (is_integral(i.shape.type) || i.shape.type == ElementType::kPred);
  if (depth > kDeepest || !integers || has_unknown_extent(i.shape) || element_count(i.shape) > kMostElements) {
    return std::nullopt;
  }
  const OpRule& rule = rule_of(i.opcode);
  const MemoryClass memory = memory_class(i.opcode);
  const bool moves_or_computes = memory == MemoryClass::kElementwise || memory == MemoryClass::kView ||
                                 i.opcode == Opcode::kBroadcast || i.opcode == Opcode::kConcatenate ||
                                 i.opcode == Opcode::kSlice || i.opcode == Opcode::kIota ||
                                 i.opcode == Opcode::kGetDimensionSize;
  if (!rule.eval || !i.called.empty() || !moves_or_computes) return std::nullopt;
  std::vector<Value> operands;
  for (const Instruction* operand : i.operands) {
    if (i.opcode == Opcode::kGetDimensionSize && operand->shape.is_array() && !has_unknown_extent(operand->shape)) {
      const int64_t extent = operand->shape.dims[i.as<DimensionsAttributes>().dimensions[0]];
      Literal size(i.shape);
      size.data<int32_t>()[0] = static_cast<int32_t>(extent);
      return std::make_shared<const Literal>(std::move(size));
    }
    std::optional<Value> known = known_value(*operand, depth + 1);
    if (!known) return std::nullopt;
    operands.push_back(std::move(*known));
  }
  NoCalls context;
  Result<Value> value = rule.eval(i, operands, context);
  return value.ok() ? std::optional(value.take()) : std::nullopt;
}

/// The known elements of an array of integers, row-major.
std::optional<Dims> constant_integers(const Instruction& i) {
  const std::optional<Value> value = known_value(i);
  if (!value || !(*value)->shape().is_array() || !is_integral((*value)->shape().type)) return std::nullopt;
  Dims all(static_cast<size_t>((*value)->size()));
  for (size_t n = 0; n < all.size(); ++n) all[n] = integer_at(**value, static_cast<int64_t>(n));
  return all;
}

std::string list_of(const Dims& dims) { return fmt::format("[{}]", fmt::join(dims, ", ")); }

}  // namespace

Status make_dynamic(ModuleMaker& maker, Scope& scope, const MlirOperation& operation) {
  const std::string_view name = operation.name.substr(operation.name.find('.') + 1);
  LT_ASSIGN_OR_RETURN(Arrays operands, maker.operands(scope, operation));
  if (operation.types.size() != 1 || !operation.types[0].is_array()) {
    return maker.fault(operation.place, "expected an array as result");
  }
  const size_t arrays = name == "dynamic_iota"                                                        ? 0
                        : name == "dynamic_gather" || name == "dynamic_conv" || name == "dynamic_pad" ? 2
                                                                                                      : 1;
  if (operands.size() <= arrays) return maker.fault(operation.place, "expected the operands that say its extents");

  // The same operation with attributes.
  MlirOperation fixed;
  fixed.place = operation.place;
  fixed.results = operation.results;
  fixed.types = operation.types;
  fixed.location = operation.location;
  fixed.attributes = operation.attributes;
  fixed.operands.assign(operation.operands.begin(), operation.operands.begin() + static_cast<ptrdiff_t>(arrays));
  if (name == "dynamic_broadcast_in_dim" || name == "dynamic_reshape" || name == "dynamic_iota") {
    fixed.name = name == "dynamic_reshape" ? "stablehlo.reshape"
                 : name == "dynamic_iota"  ? "stablehlo.iota"
                                           : "stablehlo.broadcast_in_dim";
    if (Shape& result = fixed.types[0]; has_unknown_extent(result)) {
      const std::optional<Dims> extents = constant_integers(*operands.back());
      if (!extents || extents->size() != result.dims.size() ||
          std::ranges::any_of(*extents, [](int64_t n) { return n < 0; })) {
        return maker.unsupported(operation.place,
                                 fmt::format("'{}' with extents that are not known before it runs", name));
      }
      result.dims = *extents;
    }
    return maker.operation(scope, fixed);
  }
  std::vector<std::string_view> keys;
  if (name == "real_dynamic_slice") {
    fixed.name = "stablehlo.slice";
    keys = {"start_indices", "limit_indices", "strides"};
  } else if (name == "dynamic_pad") {
    fixed.name = "stablehlo.pad";
    keys = {"edge_padding_low", "edge_padding_high", "interior_padding"};
  } else if (name == "dynamic_gather") {
    fixed.name = "stablehlo.gather";
    keys = {"slice_sizes"};
  } else {
    fixed.name = "stablehlo.convolution";
    keys = {"padding"};
  }
  if (operands.size() != arrays + keys.size()) {
    return maker.fault(operation.place,
                       fmt::format("found {} operands, expected {}", operands.size(), arrays + keys.size()));
  }
  for (size_t k = 0; k < keys.size(); ++k) {
    const std::optional<Dims> integers = constant_integers(*operands[arrays + k]);
    if (!integers) {
      return maker.unsupported(operation.operands[arrays + k].place,
                               fmt::format("'{}' whose {} isn't a constant", name, keys[k]));
    }
    // Attributes are views: the maker keeps the texts that are created here.
    const std::string& text = maker.keep(list_of(*integers));
    std::erase_if(fixed.attributes, [&](const MlirAttribute& attribute) { return attribute.key == keys[k]; });
    fixed.attributes.push_back({keys[k], text, operation.place});
  }
  return maker.operation(scope, fixed);
}

}  // namespace lowtide::engine
