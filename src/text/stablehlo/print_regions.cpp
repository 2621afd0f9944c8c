// Prints computations as regions and functions.
#include <fmt/format.h>

#include "ops/attribute_text.h"
#include "text/hlo/shape_reader.h"
#include "text/stablehlo/mlir_types.h"
#include "text/stablehlo/printer.h"

namespace lowtide::engine {
namespace {

constexpr int kStep = 2;

/// Reads the shapes {f32[3,3]{0,1}, s32[]}, for the layouts of operands.
std::vector<Shape> read_shapes(const std::string& braces) {
  const Source source{"", braces};
  Scanner scanner(source);
  std::vector<Shape> shapes;
  scanner.eat("{");
  while (scanner.peek() != '}' && !scanner.done()) {
    Result<Shape> shape = read_shape(scanner);
    if (!shape.ok()) break;
    shapes.push_back(shape.take());
    (void)scanner.eat(",");
  }
  return shapes;
}

std::string layouts_text(const std::vector<Shape>& shapes) {
  std::vector<std::string> all;
  for (const Shape& shape : shapes) {
    Dims order;
    for (int64_t d = shape.rank(); d-- > 0;) order.push_back(d);
    if (shape.layout) order = shape.layout->minor_to_major;
    all.push_back(order.empty() ? "dense<> : tensor<0xindex>"
                                : fmt::format("dense<{}> : tensor<{}xindex>", mlir_list(order), order.size()));
  }
  return fmt::format("[{}]", fmt::join(all, ", "));
}

int api_number(const std::string& version) {
  if (version == "API_VERSION_STATUS_RETURNING") return 2;
  if (version == "API_VERSION_STATUS_RETURNING_UNIFIED") return 3;
  return version == "API_VERSION_TYPED_FFI" ? 4 : 1;
}

}  // namespace

Result<std::string> StableHloPrinter::region(const Computation& computation, bool arguments) {
  const size_t outer = visible_.size();
  std::string head;
  for (const Instruction* parameter : computation.parameters()) {
    if (!parameter || !arguments) continue;
    Names& names = names_[parameter];
    names.clear();
    for (const Shape& leaf : leaves(parameter->shape)) {
      names.push_back('%' + fresh(parameter->shape.is_tuple() ? "iterArg" : parameter->name));
      head += fmt::format("{}{}: {}", head.empty() ? "" : ", ", names.back(), mlir_type_text(leaf));
    }
  }
  std::string before = std::move(out_);
  out_.clear();
  if (!head.empty()) line(fmt::format("^bb0({}):", head));
  indent_ += kStep;
  const Status printed = print_block(computation, "stablehlo.return");
  indent_ -= kStep;
  std::string text = "{\n" + std::move(out_) + std::string(static_cast<size_t>(indent_), ' ') + '}';
  out_ = std::move(before);
  for (; visible_.size() > outer; visible_.pop_back()) used_.erase(visible_.back());
  if (!printed.ok()) return printed;
  return text;
}

Result<std::string> StableHloPrinter::branch(const Computation& computation, const Names& operand) {
  for (const Instruction* parameter : computation.parameters()) {
    if (parameter) names_[parameter] = operand;
  }
  return region(computation, false);
}

Status StableHloPrinter::print_while(const Instruction& loop) {
  const Names operands = operands_of(loop);
  const std::vector<Shape> types = operand_types(loop);
  LT_ASSIGN_OR_RETURN(const std::string condition, region(*loop.called[0], true));
  LT_ASSIGN_OR_RETURN(const std::string body, region(*loop.called[1], true));
  generic(loop, "stablehlo.while", operands, types, {}, condition + ", " + body);
  return {};
}

Status StableHloPrinter::print_conditional(const Instruction& conditional) {
  std::string regions;
  for (size_t b = 0; b < conditional.called.size(); ++b) {
    LT_ASSIGN_OR_RETURN(const std::string text, branch(*conditional.called[b], names_.at(conditional.operands[b + 1])));
    regions += (regions.empty() ? "" : ", ") + text;
  }
  const bool by_predicate = conditional.operand(0).shape.type == ElementType::kPred;
  generic(conditional, by_predicate ? "stablehlo.if" : "stablehlo.case", names_.at(conditional.operands[0]),
          {conditional.operand(0).shape}, {}, regions);
  return {};
}

Status StableHloPrinter::print_call(const Instruction& call) {
  generic(call, "func.call", operands_of(call), operand_types(call), {{"callee", symbol_of(*call.called[0])}});
  return {};
}

Status StableHloPrinter::print_custom_call(const Instruction& call) {
  const auto& attributes = call.as<CustomCallAttributes>();
  int api = api_number(attributes.api_version);
  std::vector<MlirText> properties = {{"call_target_name", mlir_quote(attributes.target)}};
  if (call.backend_config.starts_with('{') && api == 4) {
    properties.push_back({"backend_config", call.backend_config});
  } else if (!call.backend_config.empty()) {
    const Result<std::string> text =
        call.backend_config.starts_with('"') ? unquote(call.backend_config) : call.backend_config;
    properties.push_back({"backend_config", mlir_quote(text.ok() ? *text : call.backend_config)});
  } else if (api == 4) {
    properties.push_back({"backend_config", "{}"});
  }
  properties.push_back({"api_version", fmt::format("{} : i32", api)});
  if (attributes.has_side_effect) properties.push_back({"has_side_effect", "true"});
  if (!call.called.empty()) {
    std::vector<std::string> symbols;
    for (const Computation* callee : call.called) symbols.push_back(symbol_of(*callee));
    properties.push_back({"called_computations", fmt::format("[{}]", fmt::join(symbols, ", "))});
  }
  std::vector<std::string> aliases;
  for (const AliasEntry& alias : attributes.output_to_operand_aliasing) {
    aliases.push_back(fmt::format(
        "#stablehlo.output_operand_alias<output_tuple_indices = {}, operand_index = {}, operand_tuple_indices = {}>",
        mlir_list(alias.output), alias.operand, mlir_list(alias.operand_index)));
  }
  if (!aliases.empty()) properties.push_back({"output_operand_aliases", fmt::format("[{}]", fmt::join(aliases, ", "))});
  for (const RawAttribute& extra : call.extra) {
    if (extra.key != "operand_layout_constraints") continue;
    properties.push_back({"operand_layouts", layouts_text(read_shapes(extra.text))});
    properties.push_back({"result_layouts", layouts_text(leaves(call.shape))});
  }
  generic(call, "stablehlo.custom_call", operands_of(call), operand_types(call), properties);
  return {};
}

}  // namespace lowtide::engine
