// A module's functions in the public interface, in the form in which a ModuleBuilder would build them.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "analysis/trip_count.h"
#include "ir/side_effects.h"
#include "lowtide/program_functions.h"
#include "ops/attribute_text.h"
#include "ops/op_rule.h"
#include "session/guard.h"
#include "session/state.h"

namespace lowtide {
namespace engine {
namespace {

/// Splits `, key=value, key=value`; commas inside braces, brackets and strings belong to values.
std::vector<ModuleBuilder::Attribute> attributes_in(std::string_view text) {
  std::vector<ModuleBuilder::Attribute> found;
  size_t at = 0;
  while (at < text.size()) {
    at = text.find_first_not_of(", ", at);
    if (at == std::string_view::npos) break;
    const size_t equals = text.find('=', at);
    if (equals == std::string_view::npos) break;
    size_t end = equals + 1;
    int depth = 0;
    bool quoted = false;
    for (; end < text.size(); ++end) {
      const char c = text[end];
      if (quoted && c == '\\') {
        ++end;
      } else if (c == '"') {
        quoted = !quoted;
      } else if (!quoted && (c == '{' || c == '[' || c == '(')) {
        ++depth;
      } else if (!quoted && (c == '}' || c == ']' || c == ')')) {
        --depth;
      } else if (!quoted && depth == 0 && c == ',') {
        break;
      }
    }
    found.push_back(
        {std::string(text.substr(at, equals - at)), std::string(text.substr(equals + 1, end - equals - 1))});
    at = end;
  }
  return found;
}

bool names_functions(std::string_view key) {
  constexpr std::string_view kKeys[] = {"to_apply",
                                        "calls",
                                        "condition",
                                        "body",
                                        "true_computation",
                                        "false_computation",
                                        "branch_computations",
                                        "called_computations",
                                        "select",
                                        "scatter"};
  return std::ranges::find(kKeys, key) != std::end(kKeys);
}

ModuleBuilder::Shape shape_of(const Shape& shape) {
  ModuleBuilder::Shape made;
  if (shape.is_tuple()) {
    made.type = "tuple";
    for (const Shape& element : shape.elements) made.elements.push_back(shape_of(element));
    return made;
  }
  made.type = shape.is_array() ? std::string(type_name(shape.type)) : "token";
  made.dims = shape.dims;
  return made;
}

bool is_dynamic(const Shape& shape) {
  return std::ranges::any_of(shape.dynamic, [](bool dynamic) { return dynamic; }) ||
         std::ranges::any_of(shape.dims, [](int64_t extent) { return extent == kUnboundedDim; }) ||
         std::ranges::any_of(shape.elements, is_dynamic);
}

class Functions {
 public:
  explicit Functions(const Module& module) : module_(module), effects_(module) {
    if (!module.source) return;
    const std::string& text = module.source->text;
    lines_.push_back(0);
    for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) lines_.push_back(at + 1);
  }

  Result<std::vector<ProgramFunction>> run() {
    std::vector<Computation*> order = module_.callees_first();
    std::erase(order, module_.entry);
    order.push_back(module_.entry);
    for (const Computation* computation : order) {
      LT_ASSIGN_OR_RETURN(ProgramFunction made, function_of(*computation));
      places_.emplace(computation, functions_.size());
      functions_.push_back(std::move(made));
    }
    return std::move(functions_);
  }

 private:
  Result<ProgramFunction> function_of(const Computation& computation) const {
    ProgramFunction made{.name = computation.name};
    std::unordered_map<const Instruction*, size_t> places;
    for (const auto& instruction : computation.instructions()) {
      LT_ASSIGN_OR_RETURN(ProgramOperation operation, operation_of(*instruction));
      for (const Instruction* operand : instruction->operands) operation.operands.push_back(places.at(operand));
      places.emplace(instruction.get(), made.operations.size());
      made.operations.push_back(std::move(operation));
    }
    made.result = places.at(computation.root);
    return made;
  }

  Result<ProgramOperation> operation_of(const Instruction& i) const {
    if (is_dynamic(i.shape)) return unsupported_at(i, "its shape is dynamic");
    if (i.opcode == Opcode::kBitcast && !(is_row_major(i.shape) && is_row_major(i.operand(0).shape)))
      return unsupported_at(i, "it reads a value in the order of its layout");
    ProgramOperation made{.operation = std::string(opcode_name(i.opcode)), .name = i.name, .shape = shape_of(i.shape)};
    std::string text;
    AttributeWriter writer(text);
    if (const auto* parameter = i.if_as<ParameterAttributes>()) {
      made.parameter = parameter->number;
    } else if (const auto* constant = i.if_as<ConstantAttributes>()) {
      if (!constant->value || !constant->value->known()) return unsupported_at(i, "its elements are left out");
      made.elements = {constant->value, constant->value->bytes().data()};
    } else if (const OpRule& rule = rule_of(i.opcode); rule.print) {
      rule.print(i, writer);
    }
    for (const RawAttribute& raw : i.extra) {
      if (raw.key == "operand_layout_constraints") writer.text(raw.key, raw.text);
    }
    if (i.opcode == Opcode::kCustomCall && !i.backend_config.empty()) writer.text("backend_config", i.backend_config);
    made.attributes = attributes_in(text);
    for (ModuleBuilder::Attribute& attribute : made.attributes) {
      if (names_functions(attribute.key)) attribute.text = by_place(attribute.text);
    }
    for (const Computation* called : i.called) made.functions.push_back(places_.at(called));
    if (const auto trips = trip_count(i)) made.trips = trips->trips;
    made.has_side_effect = effects_.has(i);
    if (!lines_.empty() && i.place != kNowhere) {
      const auto line = std::ranges::upper_bound(lines_, static_cast<size_t>(i.place)) - lines_.begin();
      made.place =
          fmt::format("{}:{}:{}", module_.source->name, line, i.place - lines_[static_cast<size_t>(line) - 1] + 1);
    }
    return made;
  }

  /// `{%a, %b}` with the functions' indices in place of their names.
  std::string by_place(std::string_view text) const {
    std::string made;
    for (size_t at = 0; at < text.size();) {
      if (text[at] != '%') {
        made += text[at++];
        continue;
      }
      const size_t end = std::min(text.find_first_of(",} ", at), text.size());
      const Computation* called = module_.find_computation(text.substr(at + 1, end - at - 1));
      made += fmt::format("%{}", places_.at(called));
      at = end;
    }
    return made;
  }

  const Module& module_;
  SideEffects effects_;
  std::vector<size_t> lines_;  ///< the offset at which each begins in the source
  std::vector<ProgramFunction> functions_;
  std::unordered_map<const Computation*, size_t> places_;
};

}  // namespace
}  // namespace engine

Result<std::vector<ProgramFunction>> functions_of(const Module& module) {
  return engine::guarded([&]() -> Result<std::vector<ProgramFunction>> {
    LT_TAKE(std::vector<ProgramFunction> functions, engine::Functions(*module.state()->input.module).run());
    return functions;
  });
}

}  // namespace lowtide
