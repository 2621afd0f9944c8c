// Operations that take as operands what others have as attributes. JAX prints them with static result types; where
// those don't say it all, the operands must be constants.
#include <fmt/format.h>

#include <algorithm>

#include "text/stablehlo/operations.h"

namespace lowtide {
namespace {

using Scope = ModuleMaker::Scope;
using Operands = std::vector<Instruction*>;

/// The integers of a constant, seen through what only moves or converts them; nothing where it isn't one.
std::optional<Dims> constant_integers(const Instruction& i, int depth = 0) {
  constexpr int kDeepest = 8;
  if (depth > kDeepest || !i.shape.is_array() || !is_integral(i.shape.type) || i.shape.rank() > 2) return std::nullopt;
  if (const auto* constant = i.if_as<ConstantAttributes>()) {
    if (!constant->value->known()) return std::nullopt;
    Dims all(static_cast<size_t>(constant->value->size()));
    for (size_t n = 0; n < all.size(); ++n) all[n] = integer_at(*constant->value, static_cast<int64_t>(n));
    return all;
  }
  if (i.opcode == Opcode::kReshape || i.opcode == Opcode::kConvert) return constant_integers(i.operand(0), depth + 1);
  if (i.opcode == Opcode::kBroadcast && i.operand(0).shape.rank() == 0) {
    const std::optional<Dims> one = constant_integers(i.operand(0), depth + 1);
    if (!one || one->size() != 1) return std::nullopt;
    return Dims(static_cast<size_t>(element_count(i.shape)), one->front());
  }
  if (i.opcode != Opcode::kConcatenate || i.shape.rank() != 1) return std::nullopt;
  Dims all;
  for (const Instruction* part : i.operands) {
    const std::optional<Dims> some = constant_integers(*part, depth + 1);
    if (!some) return std::nullopt;
    all.insert(all.end(), some->begin(), some->end());
  }
  return all;
}

std::string list_of(const Dims& dims) { return fmt::format("[{}]", fmt::join(dims, ", ")); }

}  // namespace

Status make_dynamic(ModuleMaker& maker, Scope& scope, const MlirOperation& operation) {
  const std::string_view name = operation.name.substr(operation.name.find('.') + 1);
  LT_ASSIGN_OR_RETURN(Operands operands, maker.operands(scope, operation));
  if (operation.types.size() != 1 || !operation.types[0].is_array()) {
    return maker.fault(operation.place, "expected an array as result");
  }
  const Shape& result = operation.types[0];
  if (std::ranges::find(result.dims, kUnboundedDim) != result.dims.end()) {
    return maker.unsupported(operation.place, fmt::format("'{}' with extents that are not known before it runs", name));
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
    // Attribute values live as long as the syntax; those made here, as long as the maker.
    const std::string& text = maker.keep(list_of(*integers));
    std::erase_if(fixed.attributes, [&](const MlirAttribute& attribute) { return attribute.key == keys[k]; });
    fixed.attributes.push_back({keys[k], text, operation.place});
  }
  return maker.operation(scope, fixed);
}

}  // namespace lowtide
