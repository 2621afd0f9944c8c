#include "text/stablehlo/operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "text/hlo/suggest.h"
#include "text/stablehlo/arithmetic.h"
#include "text/stablehlo/dense.h"
#include "text/stablehlo/mlir_types.h"

namespace lowtide::engine {
namespace {

using Scope = ModuleMaker::Scope;

Status make_constant(ModuleMaker& maker, Scope& scope, const MlirOperation& operation) {
  const std::optional<MlirAttribute> found = maker.values().find(operation.attributes, "value");
  if (!found || operation.types.size() != 1) return maker.fault(operation.place, "found a constant without its value");
  const Shape& shape = operation.types[0];
  LT_ASSIGN_OR_RETURN(Dense dense, read_dense(*found, shape, maker.source(), maker.syntax()));
  // A constant with equal elements becomes a broadcast scalar, as in XLA.
  const Literal& all = *dense.value;
  if (!dense.splat && all.known() && all.size() > 1) {
    const auto width = static_cast<size_t>(stored_bytes(shape.type));
    const auto bytes = all.bytes();
    if (std::equal(bytes.begin() + static_cast<ptrdiff_t>(width), bytes.end(), bytes.begin())) {
      Literal one(Shape::scalar(shape.type));
      std::copy_n(bytes.begin(), width, one.bytes().begin());
      dense = {std::make_shared<const Literal>(std::move(one)), true};
    }
  }
  if (dense.splat && shape.rank() > 0 && element_count(shape) == 1) {
    Literal one(shape);
    std::ranges::copy(dense.value->bytes(), one.bytes().begin());
    dense.value = std::make_shared<const Literal>(std::move(one));
  }
  LT_ASSIGN_OR_RETURN(Instruction * constant, maker.add_constant(scope, operation, dense.value));
  if (constant->shape.dims != shape.dims) {
    LT_ASSIGN_OR_RETURN(constant, maker.broadcast(scope, operation, constant, shape.dims, {}));
  }
  maker.bind(scope, operation, constant);
  return {};
}

Shape result_shape(const MlirOperation& operation) {
  return operation.types.size() == 1 ? operation.types[0] : Shape::tuple(operation.types);
}

std::vector<Shape> shapes_of(const Instructions& operands) {
  std::vector<Shape> shapes;
  for (const Instruction* operand : operands) shapes.push_back(operand->shape);
  return shapes;
}

/// Builds an operation of HLO: its attributes by its row, its regions as reducers.
Status make_plain(ModuleMaker& maker, Scope& scope, const MlirOperation& operation, const OperationSpelling& row,
                  Instructions operands) {
  LT_ASSIGN_OR_RETURN(std::vector<HloAttribute> attributes,
                      hlo_attributes(row, operation, shapes_of(operands), maker.values()));
  if (operation.regions.size() != row.regions.size()) {
    return maker.fault(operation.place,
                       fmt::format("{}: found {} region{}, expected {}", operation.name, operation.regions.size(),
                                   operation.regions.size() == 1 ? "" : "s", row.regions.size()));
  }
  if (row.regions.size() == 1) {
    LT_ASSIGN_OR_RETURN(const Instructions captured, maker.captures(scope, {&operation.regions[0]}));
    if (!captured.empty()) return make_capturing(maker, scope, operation, row, operands, captured);
  }
  for (size_t i = 0; i < row.regions.size(); ++i) {
    LT_ASSIGN_OR_RETURN(const Computation* callee,
                        maker.reducer(scope, operation.regions[i], fmt::format("{}.{}", row.name, row.regions[i])));
    attributes.push_back({std::string(row.regions[i]), '%' + callee->name, operation.regions[i].place});
  }
  Shape shape = result_shape(operation);
  if (row.opcode == Opcode::kConvert && operands.size() == 1 && same_shape(operands[0]->shape, shape)) {
    maker.bind(scope, operation, operands[0]);  // XLA omits it as well
    return {};
  }
  if (memory_class(row.opcode) == MemoryClass::kElementwise && shape.is_array()) {
    for (const Instruction* operand : operands) {  // its extents may be known though the type has `?`
      const bool whole = operand->shape.is_array() && operand->shape.rank() == shape.rank() && shape.rank() > 0;
      if (whole && has_unknown_extent(shape)) shape.dims = operand->shape.dims;
    }
    for (Instruction*& operand : operands) {  // broadcasts scalars
      if (!operand->shape.is_array() || !operand->shape.dims.empty()) continue;
      LT_ASSIGN_OR_RETURN(operand, maker.broadcast(scope, operation, operand, shape.dims, {}));
    }
  }
  LT_ASSIGN_OR_RETURN(Instruction * result, maker.add(scope, operation, row.opcode, std::move(shape),
                                                      std::move(operands), std::move(attributes)));
  maker.bind(scope, operation, result);
  return {};
}

/// chlo's broadcasting: each operand's dimensions are the last ones, or those that the attribute states.
Status broadcast_operands(ModuleMaker& maker, Scope& scope, const MlirOperation& operation, Instructions& operands) {
  if (operation.types.size() != 1) return maker.fault(operation.place, "expected one result");
  Dims extents = operation.types[0].dims;
  const std::optional<MlirAttribute> given = maker.values().find(operation.attributes, "broadcast_dimensions");
  std::vector<Dims> all_dims;
  for (const Instruction* operand : operands) {
    const size_t rank = operand->shape.dims.size();
    if (rank > extents.size()) return maker.fault(operation.place, "found an operand of higher rank than the result");
    Dims& dims = all_dims.emplace_back(rank);
    std::iota(dims.begin(), dims.end(), static_cast<int64_t>(extents.size() - rank));
    if (given && rank < extents.size()) {
      LT_ASSIGN_OR_RETURN(dims, maker.values().integers(*given));
      if (rank == 0) dims.clear();
    }
    for (size_t d = 0; d < std::min(dims.size(), rank); ++d) {
      if (dims[d] < 0 || dims[d] >= static_cast<int64_t>(extents.size())) continue;
      int64_t& extent = extents[dims[d]];  // the operands determine `?`
      if (operation.types[0].dims[dims[d]] == kUnboundedDim && extent < operand->shape.dims[d]) {
        extent = operand->shape.dims[d];
      }
    }
  }
  for (size_t k = 0; k < operands.size(); ++k) {
    LT_ASSIGN_OR_RETURN(operands[k], maker.broadcast(scope, operation, operands[k], extents, all_dims[k]));
  }
  return {};
}

Status make_named(ModuleMaker& maker, Scope& scope, const MlirOperation& operation, std::string_view name,
                  Instructions operands) {
  if (const MakeFunction function = function_named(name)) {
    if (operands.empty() || operation.types.size() != 1) {
      return maker.fault(operation.place, fmt::format("{}: expected operands and one result", operation.name));
    }
    Arithmetic arithmetic(maker, scope, operation);
    LT_ASSIGN_OR_RETURN(Instruction * result, function(arithmetic, operands));
    LT_RETURN_IF_ERROR(arithmetic.status());
    maker.bind(scope, operation, result);
    return {};
  }
  if (const OperationSpelling* row = spelling_of(name)) return make_plain(maker, scope, operation, *row, operands);
  std::string hlo(name);
  std::ranges::replace(hlo, '_', '-');
  if (const std::optional<Opcode> opcode = opcode_from_name(hlo)) {
    OperationSpelling row{name, *opcode};
    if (!operation.regions.empty()) row.regions = {"to_apply"};
    return make_plain(maker, scope, operation, row, operands);
  }
  return maker.unsupported(operation.place, fmt::format("no operation of HLO is known for '{}'", operation.name));
}

Status make_broadcast_in_dim(ModuleMaker& maker, Scope& scope, const MlirOperation& operation) {
  LT_ASSIGN_OR_RETURN(const Instructions operands, maker.operands(scope, operation));
  const auto dims = maker.values().find_any(operation.attributes, "broadcast_dimensions|dims");
  if (operands.empty() || !dims || operation.types.size() != 1) {
    return maker.fault(operation.place, "expected an operand and its dimensions in the result");
  }
  LT_ASSIGN_OR_RETURN(const Dims all, maker.values().integers(*dims));
  LT_ASSIGN_OR_RETURN(Instruction * result,
                      maker.broadcast(scope, operation, operands[0], operation.types[0].dims, all));
  maker.bind(scope, operation, result);
  return {};
}

/// stablehlo.broadcast: new leading dimensions.
Status make_broadcast(ModuleMaker& maker, Scope& scope, const MlirOperation& operation) {
  LT_ASSIGN_OR_RETURN(const Instructions operands, maker.operands(scope, operation));
  if (operands.size() != 1 || operation.types.size() != 1) return maker.fault(operation.place, "expected one operand");
  Dims dims(operands[0]->shape.dims.size());
  std::iota(dims.begin(), dims.end(), operation.types[0].rank() - static_cast<int64_t>(dims.size()));
  LT_ASSIGN_OR_RETURN(Instruction * result,
                      maker.broadcast(scope, operation, operands[0], operation.types[0].dims, dims));
  maker.bind(scope, operation, result);
  return {};
}

Status make_tuple(ModuleMaker& maker, Scope& scope, const MlirOperation& operation) {
  LT_ASSIGN_OR_RETURN(const Instructions operands, maker.operands(scope, operation));
  LT_ASSIGN_OR_RETURN(Instruction * result,
                      maker.add(scope, operation, Opcode::kTuple, Shape::tuple(shapes_of(operands)), operands));
  maker.bind(scope, operation, result);
  return {};
}

Status make_barrier(ModuleMaker& maker, Scope& scope, const MlirOperation& operation) {
  LT_ASSIGN_OR_RETURN(const Instructions operands, maker.operands(scope, operation));
  LT_ASSIGN_OR_RETURN(Instruction * bundle, maker.bundle(scope, operation, operands));
  LT_ASSIGN_OR_RETURN(Instruction * result, maker.add(scope, operation, Opcode::kOptBarrier, bundle->shape, {bundle}));
  maker.bind(scope, operation, result);
  return {};
}

Status make_token(ModuleMaker& maker, Scope& scope, const MlirOperation& operation) {
  LT_ASSIGN_OR_RETURN(Instruction * result, maker.add(scope, operation, Opcode::kAfterAll, Shape::token(), {}));
  maker.bind(scope, operation, result);
  return {};
}

/// stablehlo.rng: the extents are an operand, which HLO doesn't have.
Status make_rng(ModuleMaker& maker, Scope& scope, const MlirOperation& operation) {
  LT_ASSIGN_OR_RETURN(Instructions operands, maker.operands(scope, operation));
  if (operands.size() > 2) operands.resize(2);
  return make_plain(maker, scope, operation, *spelling_of("rng"), operands);
}

/// A sort along a dimension that may be counted from the end, and is the last one by default.
Status make_sort(ModuleMaker& maker, Scope& scope, const MlirOperation& operation) {
  LT_ASSIGN_OR_RETURN(const Instructions operands, maker.operands(scope, operation));
  const auto given = maker.values().find(operation.attributes, "dimension");
  int64_t dimension = -1;
  if (given) {
    LT_ASSIGN_OR_RETURN(dimension, maker.values().integer(*given));
  }
  if (dimension >= 0 || operands.empty()) {
    return make_plain(maker, scope, operation, *spelling_of("sort"), operands);
  }
  MlirOperation counted = operation;
  std::erase_if(counted.attributes, [](const MlirAttribute& attribute) { return attribute.key == "dimension"; });
  counted.attributes.push_back({"dimension", maker.keep(std::to_string(dimension + operands[0]->shape.rank())),
                                given ? given->place : operation.place});
  return make_plain(maker, scope, counted, *spelling_of("sort"), operands);
}

/// chlo.scan: the body's last arguments are the carried values.
Status make_scan(ModuleMaker& maker, Scope& scope, const MlirOperation& operation) {
  LT_ASSIGN_OR_RETURN(const Instructions operands, maker.operands(scope, operation));
  if (operation.regions.size() != 1) return maker.fault(operation.place, "expected one region");
  int64_t carries = 0;
  for (const MlirUse& use : operation.operands) carries += use.carried ? 1 : 0;
  const OperationSpelling& row = *spelling_of("scan");
  LT_ASSIGN_OR_RETURN(std::vector<HloAttribute> attributes,
                      hlo_attributes(row, operation, shapes_of(operands), maker.values()));
  const std::optional<MlirAttribute> sizes = maker.values().find(operation.attributes, "operandSegmentSizes");
  if (sizes) {
    LT_ASSIGN_OR_RETURN(const Dims groups, maker.values().integers(*sizes));
    if (groups.size() == 2) carries = groups[1];
  }
  LT_ASSIGN_OR_RETURN(const Computation* callee, maker.reducer(scope, operation.regions[0], "scan.to_apply"));
  attributes.push_back({"num_carries", std::to_string(carries)});
  attributes.push_back({"to_apply", '%' + callee->name});
  LT_ASSIGN_OR_RETURN(Instruction * result, maker.add(scope, operation, Opcode::kScan, Shape::tuple(operation.types),
                                                      operands, std::move(attributes)));
  maker.bind(scope, operation, result);
  return {};
}

/// stablehlo.dot: contracts the last dimension of the first operand with the first of the second.
Status make_dot(ModuleMaker& maker, Scope& scope, const MlirOperation& operation) {
  LT_ASSIGN_OR_RETURN(Instructions operands, maker.operands(scope, operation));
  if (operands.size() != 2 || operands[0]->shape.dims.empty())
    return maker.fault(operation.place, "expected two arrays");
  OperationSpelling row{"dot", Opcode::kDot};
  for (const Spelling& spelling : spelling_of("dot_general")->attributes) {
    if (spelling.how != Spell::kDims) row.attributes.push_back(spelling);
  }
  LT_ASSIGN_OR_RETURN(std::vector<HloAttribute> attributes,
                      hlo_attributes(row, operation, shapes_of(operands), maker.values()));
  attributes.push_back({"lhs_contracting_dims", braced_dims({operands[0]->shape.rank() - 1})});
  attributes.push_back({"rhs_contracting_dims", "{0}"});
  LT_ASSIGN_OR_RETURN(Instruction * result, maker.add(scope, operation, Opcode::kDot, result_shape(operation), operands,
                                                      std::move(attributes)));
  maker.bind(scope, operation, result);
  return {};
}

/// StableHLO's all_to_all splits one dimension and joins along another; HLO's splits and joins the same one.
Status make_all_to_all(ModuleMaker& maker, Scope& scope, const MlirOperation& operation) {
  LT_ASSIGN_OR_RETURN(const Instructions operands, maker.operands(scope, operation));
  const MlirValues& values = maker.values();
  int64_t split = 0, join = 0, count = 1;
  for (const auto& [key, out] :
       {std::pair{"split_dimension", &split}, {"concat_dimension", &join}, {"split_count", &count}}) {
    const auto found = values.find(operation.attributes, key);
    if (!found) return maker.fault(operation.place, fmt::format("all_to_all: expected '{}'", key));
    LT_ASSIGN_OR_RETURN(*out, values.integer(*found));
  }
  const OperationSpelling row{"all_to_all", Opcode::kAllToAll, spelling_of("collective_broadcast")->attributes};
  Instructions results;
  for (Instruction* operand : operands) {
    const Shape whole = operand->shape;
    if (split < 0 || split >= whole.rank() || join < 0 || join >= whole.rank() || count < 1 ||
        whole.dims[split] % count != 0) {
      return maker.fault(operation.place,
                         "all_to_all: expected dimensions of the operand, and a count that divides one");
    }
    LT_ASSIGN_OR_RETURN(std::vector<HloAttribute> attributes, hlo_attributes(row, operation, {whole}, values));
    attributes.push_back({"dimensions", braced_dims({split})});
    LT_ASSIGN_OR_RETURN(Instruction * moved,
                        maker.add(scope, operation, Opcode::kAllToAll, whole, {operand}, std::move(attributes)));
    if (split != join) {
      const auto s = static_cast<size_t>(split), j = static_cast<size_t>(join);
      Shape parts = whole, joined = whole;
      parts.dims[s] /= count;
      parts.dims.insert(parts.dims.begin() + split, count);
      // Moves the parts' dimension, at `split`, before the one along which they are joined.
      Dims order;
      for (int64_t d = 0; d < parts.rank(); ++d) {
        if (d == split) continue;
        if (d == join + (join > split ? 1 : 0)) order.push_back(split);
        order.push_back(d);
      }
      Shape turned = parts;
      for (size_t d = 0; d < order.size(); ++d) turned.dims[d] = parts.dims[order[d]];
      joined.dims[s] /= count;
      joined.dims[j] *= count;
      LT_ASSIGN_OR_RETURN(moved, maker.add(scope, operation, Opcode::kReshape, parts, {moved}));
      LT_ASSIGN_OR_RETURN(moved, maker.add(scope, operation, Opcode::kTranspose, turned, {moved},
                                           {{"dimensions", braced_dims(order)}}));
      LT_ASSIGN_OR_RETURN(moved, maker.add(scope, operation, Opcode::kReshape, joined, {moved}));
    }
    results.push_back(moved);
  }
  if (results.size() == 1) {
    maker.bind(scope, operation, results[0]);
  } else {
    maker.bind_each(scope, operation, results);
  }
  return {};
}

}  // namespace

MakeOperation special_operation(std::string_view name) {
  static const std::unordered_map<std::string_view, MakeOperation> kSpecial = {
      {"constant", make_constant},
      {"broadcast_in_dim", make_broadcast_in_dim},
      {"broadcast", make_broadcast},
      {"tuple", make_tuple},
      {"optimization_barrier", make_barrier},
      {"create_token", make_token},
      {"rng", make_rng},
      {"dot", make_dot},
      {"bitcast_convert", make_bitcast_convert},
      {"einsum", make_einsum},
      {"unary_einsum", make_einsum},
      {"torch_index_select", make_torch_index_select},
      {"cross-replica-sum", make_cross_replica_sum},
      {"sort", make_sort},
      {"scan", make_scan},
      {"all_to_all", make_all_to_all},
      {"call", make_call},
      {"composite", make_composite},
      {"while", make_while},
      {"if", make_conditional},
      {"case", make_conditional},
      {"async_start", make_async},
      {"async_update", make_async},
      {"async_done", make_async},
      {"manual_computation", make_manual_computation},
      {"custom_call", make_custom_call},
      {"sharding_constraint", make_sharding_constraint},
      {"reshard", make_sharding_constraint},
      {"dynamic_broadcast_in_dim", make_dynamic},
      {"dynamic_reshape", make_dynamic},
      {"dynamic_iota", make_dynamic},
      {"dynamic_pad", make_dynamic},
      {"dynamic_gather", make_dynamic},
      {"dynamic_conv", make_dynamic},
      {"real_dynamic_slice", make_dynamic},
  };
  const auto found = kSpecial.find(name);
  return found == kSpecial.end() ? nullptr : found->second;
}

Status ModuleMaker::operation(Scope& scope, const MlirOperation& operation) {
  const size_t dot = operation.name.find('.');
  const std::string_view dialect = dot == std::string_view::npos ? "func" : operation.name.substr(0, dot);
  const std::string_view name = dot == std::string_view::npos ? operation.name : operation.name.substr(dot + 1);
  for (const MlirResult& result : operation.results) {
    if (!scope.values.contains(result.name)) continue;
    return fault(operation.place, fmt::format("'%{}' is defined twice", result.name));
  }
  int64_t named = 0;
  for (const MlirResult& result : operation.results) named += result.count;
  if (!operation.results.empty() && named != static_cast<int64_t>(operation.types.size())) {
    return fault(operation.place, fmt::format("{}: found names for {} results and {} types", operation.name, named,
                                              operation.types.size()));
  }
  if (dialect == "check") return make_check(*this, scope, operation);
  if (dialect == "enzymexla") {
    if (const MakeOperation make = halo_operation(name)) return make(*this, scope, operation);
    if (name == "jit_call") return make_custom_call(*this, scope, operation);  // a call of machine code
  }
  constexpr std::array<std::string_view, 6> kDialects = {"stablehlo", "chlo", "mhlo", "func", "sdy", "arith"};
  if (std::ranges::find(kDialects, dialect) == kDialects.end()) {
    return unsupported(operation.place, fmt::format("operations of the dialect '{}' are not known", dialect));
  }
  if (const MakeOperation make = special_operation(name)) return make(*this, scope, operation);
  LT_ASSIGN_OR_RETURN(Instructions operands, this->operands(scope, operation));
  if (dialect == "sdy" && operands.size() == 1) {  // its remaining operations only place values
    bind(scope, operation, operands[0]);
    return {};
  }
  if (dialect == "chlo" && name.starts_with("broadcast_")) {
    LT_RETURN_IF_ERROR(broadcast_operands(*this, scope, operation, operands));
    return make_named(*this, scope, operation, name.substr(10), std::move(operands));
  }
  return make_named(*this, scope, operation, name, std::move(operands));
}

}  // namespace lowtide::engine
