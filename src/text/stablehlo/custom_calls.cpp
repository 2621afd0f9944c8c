// Builds custom calls with all their attributes, the check dialect, and sharding constraints as calls.
#include <fmt/format.h>

#include <algorithm>

#include "ops/attribute_text.h"
#include "ops/text_cursor.h"
#include "text/stablehlo/dense.h"
#include "text/stablehlo/operations.h"

namespace lowtide::engine {
namespace {

using Scope = ModuleMaker::Scope;

/// Sets the layouts [dense<[0, 1]> : tensor<2xindex>, ...] on the shapes, one each.
Status set_layouts(ModuleMaker& maker, const MlirAttribute& layouts, std::vector<Shape*> shapes) {
  const MlirAttributes elements = maker.values().elements(layouts);
  if (elements.size() != shapes.size()) {
    return maker.values().fault(layouts, fmt::format("found {} layouts, expected {}", elements.size(), shapes.size()));
  }
  for (size_t i = 0; i < shapes.size(); ++i) {
    LT_ASSIGN_OR_RETURN(Dims order, maker.values().integers(elements[i]));
    if (!shapes[i]->is_array()) continue;
    Dims sorted = order;
    std::ranges::sort(sorted);
    bool permutation = sorted.size() == shapes[i]->dims.size();
    for (size_t d = 0; permutation && d < sorted.size(); ++d) permutation = sorted[d] == static_cast<int64_t>(d);
    if (!permutation) return maker.values().fault(elements[i], "expected each dimension once");
    Layout layout;
    layout.minor_to_major = std::move(order);
    shapes[i]->layout = std::move(layout);
  }
  return {};
}

/// [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>]
Result<std::string> aliases_text(const MlirAttribute& aliases, const MlirValues& values) {
  std::string text;
  for (const MlirAttribute& alias : values.elements(aliases)) {
    LT_ASSIGN_OR_RETURN(const MlirAttributes fields, values.fields(alias));
    const auto list = [&](std::string_view key) -> Result<Dims> {
      const auto found = values.find(fields, key);
      if (!found) return Dims();
      return values.integers(*found);
    };
    LT_ASSIGN_OR_RETURN(const Dims output, list("output_tuple_indices"));
    LT_ASSIGN_OR_RETURN(const Dims index, list("operand_tuple_indices"));
    const auto operand = values.find(fields, "operand_index");
    if (!operand) return values.fault(alias, "expected the operand that the result lives in");
    LT_ASSIGN_OR_RETURN(const int64_t number, values.integer(*operand));
    text += fmt::format("{}{}: ({}, {})", text.empty() ? "" : ", ", braced_dims(output), number, braced_dims(index));
  }
  return text.empty() ? text : '{' + text + '}';
}

std::string api_version(int64_t number, bool has_dictionary) {
  if (number == 2) return "API_VERSION_STATUS_RETURNING";
  if (number == 3) return "API_VERSION_STATUS_RETURNING_UNIFIED";
  return number == 4 || has_dictionary ? "API_VERSION_TYPED_FFI" : "";
}

/// mhlo.erf, mhlo.topk: jax.export's custom calls for operations that its version of StableHLO lacked. Their attributes
/// are in `mhlo.attributes`.
Status make_exported(ModuleMaker& maker, Scope& scope, const MlirOperation& operation, const std::string& name) {
  MlirOperation plain = operation;
  plain.name = maker.keep("chlo." + name.substr(name.find('.') + 1));
  plain.attributes.clear();
  if (const auto given = maker.values().find(operation.attributes, "mhlo.attributes")) {
    LT_ASSIGN_OR_RETURN(plain.attributes, maker.values().fields(*given));
  }
  return maker.operation(scope, plain);
}

/// ApproxTopK of jax.lax.approx_max_k: the first elements of arrays along a dimension, in the order of a comparator.
/// The second half of the operands are initial values for a reduction, which aren't needed: the result is exact, by a
/// full sort.
Status make_approximate_top_k(ModuleMaker& maker, Scope& scope, const MlirOperation& operation) {
  LT_ASSIGN_OR_RETURN(const Instructions operands, maker.operands(scope, operation));
  const auto called = maker.values().find(operation.attributes, "called_computations");
  const auto config = maker.values().find_any(operation.attributes, "mhlo.backend_config|backend_config");
  const MlirAttributes comparators = called ? maker.values().elements(*called) : MlirAttributes();
  const size_t count = operation.types.size();
  if (comparators.size() != 1 || !config || !config->text.starts_with('{') || operands.size() != 2 * count ||
      count == 0) {
    return maker.fault(operation.place, "ApproxTopK: expected arrays, what they start from, a comparator and a config");
  }
  LT_ASSIGN_OR_RETURN(const MlirAttributes fields, maker.values().fields(*config));
  const auto dimension = maker.values().find(fields, "reduction_dim");
  if (!dimension) return maker.fault(config->place, "ApproxTopK: expected 'reduction_dim'");
  LT_ASSIGN_OR_RETURN(int64_t d, maker.values().integer(*dimension));
  if (d < 0) d += operands[0]->shape.rank();
  const Instructions arrays(operands.begin(), operands.begin() + static_cast<ptrdiff_t>(count));
  std::vector<Shape> shapes;
  for (size_t i = 0; i < count; ++i) {
    shapes.push_back(arrays[i]->shape);
    Dims rest = arrays[i]->shape.dims;
    const bool fits = d >= 0 && d < arrays[i]->shape.rank() && operation.types[i].rank() == arrays[i]->shape.rank();
    if (fits) rest[d] = std::min(rest[d], operation.types[i].dims[d]);
    if (!fits || rest != operation.types[i].dims) {
      return maker.fault(operation.place, "ApproxTopK: a result isn't the first elements of its array");
    }
  }
  LT_ASSIGN_OR_RETURN(const Computation* comparator, maker.function(comparators[0].text, comparators[0].place));
  LT_ASSIGN_OR_RETURN(
      Instruction * sorted,
      maker.add(scope, operation, Opcode::kSort, count == 1 ? shapes[0] : Shape::tuple(shapes), arrays,
                {{"dimensions", braced_dims({d})}, {"is_stable", "true"}, {"to_apply", '%' + comparator->name}}));
  Instructions results;
  for (size_t i = 0; i < count; ++i) {
    Instruction* all = sorted;
    if (count > 1) {
      LT_ASSIGN_OR_RETURN(all, maker.add(scope, MlirOperation{}, Opcode::kGetTupleElement, shapes[i], {sorted},
                                         {{"index", std::to_string(i)}}));
    }
    std::string ranges;
    for (const int64_t extent : operation.types[i].dims) {
      ranges += fmt::format("{}[0:{}]", ranges.empty() ? "" : ", ", extent);
    }
    LT_ASSIGN_OR_RETURN(results.emplace_back(), maker.add(scope, operation, Opcode::kSlice, operation.types[i], {all},
                                                          {{"slice", '{' + ranges + '}'}}));
  }
  maker.bind_each(scope, operation, results);
  return {};
}

}  // namespace

Status make_custom_call(ModuleMaker& maker, Scope& scope, const MlirOperation& operation) {
  const MlirValues& values = maker.values();
  const auto find = [&](std::string_view paths) { return values.find_any(operation.attributes, paths); };
  const auto target = find("call_target_name|callee");
  if (!target) return maker.fault(operation.place, "found a custom call without its target");
  std::string name(target->text);
  if (name.starts_with('"')) {
    LT_ASSIGN_OR_RETURN(name, values.string(*target));
  }
  if (name.starts_with("mhlo.")) return make_exported(maker, scope, operation, name);
  if (name == "cpu_csr_sparse_dense_ffi") return make_csr_product(maker, scope, operation);
  if (name == "ApproxTopK") return make_approximate_top_k(maker, scope, operation);
  LT_ASSIGN_OR_RETURN(const Instructions operands, maker.operands(scope, operation));
  std::vector<HloAttribute> attributes = {{"custom_call_target", quote(name), target->place}};
  Shape shape = operation.result_shape();
  if (const auto layouts = find("operand_layouts"); layouts && layouts->text != "[]") {
    std::vector<Shape> shapes;
    std::vector<Shape*> places;
    for (const Instruction* operand : operands) shapes.push_back(operand->shape);
    for (Shape& s : shapes) places.push_back(&s);
    LT_RETURN_IF_ERROR(set_layouts(maker, *layouts, places));
    std::string text;
    for (const Shape& s : shapes) text += (text.empty() ? "" : ", ") + to_string(s);
    attributes.push_back({"operand_layout_constraints", '{' + text + '}', layouts->place});
  }
  if (const auto layouts = find("result_layouts"); layouts && layouts->text != "[]") {
    std::vector<Shape*> places = {&shape};
    if (shape.is_tuple()) {
      places.clear();
      for (Shape& element : shape.elements) places.push_back(&element);
    }
    LT_RETURN_IF_ERROR(set_layouts(maker, *layouts, places));
  }
  if (const auto effect = find("has_side_effect")) {
    LT_ASSIGN_OR_RETURN(const int64_t has, values.integer(*effect));
    if (has != 0) attributes.push_back({"custom_call_has_side_effect", "true", effect->place});
  }
  if (const auto aliases = find("output_operand_aliases")) {
    LT_ASSIGN_OR_RETURN(std::string text, aliases_text(*aliases, values));
    if (!text.empty()) attributes.push_back({"output_to_operand_aliasing", std::move(text), aliases->place});
  }
  if (const auto called = find("called_computations")) {
    std::string names;
    for (const MlirAttribute& callee : values.elements(*called)) {
      LT_ASSIGN_OR_RETURN(const Computation* function, maker.function(callee.text, callee.place));
      names += (names.empty() ? "%" : ", %") + function->name;
    }
    if (!names.empty()) attributes.push_back({"called_computations", '{' + names + '}', called->place});
  }
  int64_t version = 1;
  if (const auto given = find("api_version")) {
    LT_ASSIGN_OR_RETURN(version, values.integer(*given));
  }
  auto config = find("mhlo.backend_config");
  if (!config) config = find("backend_config");
  const bool dictionary = config && config->text.starts_with('{');
  if (const std::string api = api_version(version, dictionary); !api.empty()) {
    attributes.push_back({"api_version", api, operation.place});
  }
  if (dictionary) {
    // The text is copied to HLO, where other characters begin comments.
    if (end_of_brackets(config->text, 0) != config->text.size()) {
      return maker.unsupported(config->place, "this dictionary ends elsewhere for HLO");
    }
    attributes.push_back({"backend_config", std::string(config->text), config->place});
  } else if (config) {
    LT_ASSIGN_OR_RETURN(const std::string text, values.string(*config));
    if (!text.empty()) attributes.push_back({"backend_config", quote(text), config->place});
  }
  LT_ASSIGN_OR_RETURN(Instruction * result, maker.add(scope, operation, Opcode::kCustomCall, std::move(shape), operands,
                                                      std::move(attributes)));
  maker.bind(scope, operation, result);
  return {};
}

Status make_check(ModuleMaker& maker, Scope& scope, const MlirOperation& operation) {
  // check.expect_eq_const %x, dense<...>; expect_eq %x, %y; older ones: eq, almost_eq with a constant.
  std::string_view name = operation.name.substr(6);
  const bool with_constant = name.ends_with("_const") || name == "eq" || name == "almost_eq";
  if (name.ends_with("_const")) name.remove_suffix(6);
  if (name.starts_with("expect_")) name.remove_prefix(7);
  if (name != "eq" && name != "close" && name != "almost_eq") {
    return maker.unsupported(operation.place, fmt::format("'{}' can't be checked here", operation.name));
  }
  LT_ASSIGN_OR_RETURN(Instructions operands, maker.operands(scope, operation));
  MlirOperation origin;
  origin.place = operation.place;
  origin.location = operation.location;
  if (with_constant) {
    const auto expected = maker.values().find(operation.attributes, "value");
    if (operands.size() != 1 || !expected) {
      return maker.fault(operation.place, fmt::format("{}: expected a value and a constant", operation.name));
    }
    const Shape shape = operands[0]->shape;
    LT_ASSIGN_OR_RETURN(const Dense dense, read_dense(*expected, shape, maker.source(), maker.syntax()));
    LT_ASSIGN_OR_RETURN(Instruction * constant, maker.add_constant(scope, origin, dense.value));
    if (dense.splat) {
      LT_ASSIGN_OR_RETURN(constant, maker.broadcast(scope, origin, constant, shape.dims, {}));
    }
    operands.push_back(constant);
  }
  if (operands.size() != 2) return maker.fault(operation.place, "expected two values to compare");
  std::vector<HloAttribute> attributes = {{"custom_call_target", fmt::format("\"check.expect_{}\"", name)},
                                          {"custom_call_has_side_effect", "true"}};
  // Tolerances other than the defaults in check_calls.h.
  std::string limits;
  for (const std::string_view key : {"tolerance", "min_ulp_difference", "max_ulp_difference"}) {
    const auto limit = maker.values().find(operation.attributes, key);
    if (!limit) continue;
    LT_ASSIGN_OR_RETURN(const std::string_view number, maker.values().number(*limit));
    limits += fmt::format("{}{}={}", limits.empty() ? "" : " ", key, number);
  }
  if (!limits.empty()) attributes.push_back({"backend_config", quote(limits)});
  return maker.add(scope, origin, Opcode::kCustomCall, Shape::tuple({}), operands, std::move(attributes)).status();
}

Status make_sharding_constraint(ModuleMaker& maker, Scope& scope, const MlirOperation& operation) {
  LT_ASSIGN_OR_RETURN(const Instructions operands, maker.operands(scope, operation));
  const auto sharding = maker.values().find_any(operation.attributes, "angles|sharding");
  const size_t angle = sharding ? sharding->text.find('<') : std::string_view::npos;
  if (operands.size() != 1 || angle == std::string_view::npos) {
    return maker.fault(operation.place, "expected a value and its sharding");
  }
  LT_ASSIGN_OR_RETURN(Instruction * call, maker.add(scope, operation, Opcode::kCustomCall, operands[0]->shape, operands,
                                                    {{"custom_call_target", "\"Sharding\""}}));
  const std::string_view text = sharding->text.substr(angle);
  call->frontend_attributes = "{xla.sdy.sharding=" + quote(fmt::format("#sdy.sharding_per_value<[{}]>", text)) + '}';
  const Result<Sharding> tiled = parse_sharding(hlo_sharding_of_shardy(text, maker.syntax()));
  if (tiled.ok()) call->sharding = std::make_shared<const Sharding>(*tiled);
  maker.bind(scope, operation, call);
  return {};
}

}  // namespace lowtide::engine
