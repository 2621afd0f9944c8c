#include "text/stablehlo/module_maker.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/op_rule.h"
#include "text/stablehlo/mlir_types.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kSmallConstant = 1024;  // constants of up to this many elements are duplicated instead of passed

bool is_numeric(std::string_view name) { return !name.empty() && is_digit(name[0]); }

/// An instruction's name for an SSA name: `%arg0` stays, `%3` is `add.3`.
std::string name_of(std::string_view ssa, Opcode opcode) {
  std::string name = is_numeric(ssa) ? fmt::format("{}.{}", opcode_name(opcode), ssa) : std::string(ssa);
  for (char& c : name) {
    if (!is_name_char(c)) c = '_';
  }
  if (name.empty() || !is_name_start(name[0])) name.insert(0, 1, '_');
  return name;
}

/// Orders each instruction after its operands, which are in their own order: XLA's order, independent of the text's. It
/// only matters for choices between equal alternatives, which are then the same as with XLA's text.
std::vector<Instruction*> operands_first(const Computation& computation) {
  std::unordered_set<const Instruction*> used, done;
  for (const auto& i : computation.instructions()) used.insert(i->operands.begin(), i->operands.end());
  std::vector<Instruction*> order;
  std::vector<std::pair<Instruction*, size_t>> open;
  for (const auto& end : computation.instructions()) {
    if (used.contains(end.get())) continue;
    open.emplace_back(end.get(), 0);
    done.insert(end.get());
    while (!open.empty()) {
      auto& [i, next] = open.back();
      if (next == i->operands.size()) {
        order.push_back(i);
        open.pop_back();
      } else if (Instruction* operand = i->operands[next++]; done.insert(operand).second) {
        open.emplace_back(operand, 0);
      }
    }
  }
  return order;
}

/// Attributes that are prefixed with a dialect don't only describe the computation.
bool is_annotated(const MlirOperation& operation) {
  return std::ranges::any_of(operation.attributes,
                             [](const MlirAttribute& a) { return a.key.find('.') != std::string_view::npos; });
}

/// Makes constants the second operand, as XLA does when it reads StableHLO: rules look for them only there.
void put_constants_right(Instruction& i) {
  if (is_commutative(i.opcode) && is_constant_like(*i.operands[0]) && !is_constant_like(*i.operands[1])) {
    std::swap(i.operands[0], i.operands[1]);
  }
}

std::string shape_text(const Shape& shape) { return mlir_type_text(shape); }

}  // namespace

bool is_constant_like(const Instruction& i, int depth) {
  constexpr int kDeepest = 8;
  if (depth > kDeepest || !i.shape.is_array() || !i.called.empty()) return false;
  if (i.opcode != Opcode::kBroadcast && element_count(i.shape) > kSmallConstant) return false;
  if (i.opcode == Opcode::kConstant) return true;
  const MemoryClass memory = memory_class(i.opcode);
  if (memory != MemoryClass::kElementwise && memory != MemoryClass::kView && i.opcode != Opcode::kBroadcast)
    return false;
  return !i.operands.empty() &&
         std::ranges::all_of(i.operands, [&](const Instruction* o) { return is_constant_like(*o, depth + 1); });
}

Result<Instruction*> ModuleMaker::value(Scope& scope, const MlirUse& use) {
  const auto found = scope.values.find(use.name);
  if (found != scope.values.end()) {
    if (use.part >= static_cast<int64_t>(found->second.size())) {
      return fault(use.place, fmt::format("'%{}' has {} result{}, found '#{}'", use.name, found->second.size(),
                                          found->second.size() == 1 ? "" : "s", use.part));
    }
    Part& part = found->second[use.part];
    if (!part.value) {
      const MlirOperation none;
      LT_ASSIGN_OR_RETURN(part.value, add(scope, none, Opcode::kGetTupleElement, part.tuple->shape.elements[part.index],
                                          {part.tuple}, {{"index", std::to_string(part.index)}}));
      part.value->metadata = part.tuple->metadata;
      part.value->place = part.tuple->place;
    }
    return part.value;
  }
  if (!scope.outer) return fault(use.place, fmt::format("no value before this one is named '%{}'", use.name));
  LT_ASSIGN_OR_RETURN(Instruction * outside, value(*scope.outer, use));
  const auto captured = scope.captured.find(outside);
  if (captured == scope.captured.end()) {
    if (is_constant_like(*outside)) return clone_constant(scope, *outside);
    return fault(
        use.place,
        fmt::format("'%{}' comes from outside; this region can take nothing but constants from there", use.name));
  }
  if (!captured->second.value) {
    const MlirOperation none;
    LT_ASSIGN_OR_RETURN(captured->second.value,
                        add(scope, none, Opcode::kGetTupleElement, outside->shape, {captured->second.tuple},
                            {{"index", std::to_string(captured->second.index)}}));
  }
  return captured->second.value;
}

Result<Instruction*> ModuleMaker::clone_constant(Scope& scope, const Instruction& constant) {
  Instruction*& clone = scope.cloned[&constant];
  if (clone) return clone;
  auto copy = std::make_unique<Instruction>();
  copy->opcode = constant.opcode;
  copy->shape = constant.shape;
  copy->attributes = constant.attributes;
  copy->metadata = constant.metadata;
  copy->place = constant.place;
  copy->extra = constant.extra;
  for (const Instruction* operand : constant.operands) {
    LT_ASSIGN_OR_RETURN(Instruction * inner, clone_constant(scope, *operand));
    copy->operands.push_back(inner);
  }
  return scope.cloned[&constant] = scope.computation->append(std::move(copy));
}

Result<std::vector<Instruction*>> ModuleMaker::operands(Scope& scope, const MlirOperation& operation) {
  std::vector<Instruction*> all;
  const bool typed = !operation.operand_types.empty() || operation.operands.empty();
  if (typed && operation.operand_types.size() != operation.operands.size()) {
    return fault(operation.place, fmt::format("found {} operands and {} types for them", operation.operands.size(),
                                              operation.operand_types.size()));
  }
  for (size_t i = 0; i < operation.operands.size(); ++i) {
    LT_ASSIGN_OR_RETURN(Instruction * operand, value(scope, operation.operands[i]));
    if (typed && !is_of_type(operand->shape, operation.operand_types[i])) {
      return fault(operation.operands[i].place,
                   fmt::format("'%{}' is {}, but its type is given as {}", operation.operands[i].name,
                               shape_text(operand->shape), shape_text(operation.operand_types[i])));
    }
    all.push_back(operand);
  }
  return all;
}

Result<Instruction*> ModuleMaker::add(Scope& scope, const MlirOperation& operation, Opcode opcode, Shape shape,
                                      std::vector<Instruction*> operands, std::vector<HloAttribute> attributes) {
  auto instruction = std::make_unique<Instruction>();
  instruction->opcode = opcode;
  instruction->shape = std::move(shape);
  instruction->operands = std::move(operands);
  instruction->parent = scope.computation;
  instruction->place = operation.place;
  instruction->metadata = metadata(operation.location);
  const int arity = opcode_arity(opcode);
  if (arity >= 0 && static_cast<size_t>(arity) != instruction->operands.size()) {
    return fault(operation.place,
                 fmt::format("{}: found {} operand{}, expected {}", operation.name, instruction->operands.size(),
                             instruction->operands.size() == 1 ? "" : "s", arity));
  }
  put_constants_right(*instruction);
  std::vector<AttributeReader::Item> items;
  for (const HloAttribute& attribute : attributes) {
    items.push_back({attribute.key, attribute.text, attribute.place == kNowhere ? operation.place : attribute.place});
  }
  AttributeReader reader(*source_, "", operation.place, std::move(items),
                         [this](std::string_view text, Offset place) -> Result<Computation*> {
                           if (text.starts_with('%')) text.remove_prefix(1);
                           if (Computation* found = module_->find_computation(text)) return found;
                           return fault(place, fmt::format("no computation is named '{}'", text));
                         });
  if (const OpRule& rule = rule_of(opcode); rule.read) {
    const Status status = rule.read(reader, *instruction);
    if (!status.ok()) {
      if (status.has_place()) return status;
      return Status(status.fault(), fmt::format("{}: {}", operation.name, status.message()))
          .at(*source_, operation.place);
    }
  }
  if (has_unknown_extent(instruction->shape) && rule_of(opcode).infer) {
    // The result's extents are known if the operands' are.
    const Result<Shape> known = rule_of(opcode).infer(*instruction);
    if (known.ok() && is_of_type(*known, instruction->shape)) instruction->shape = *known;
  }
  for (AttributeReader::Item& item : std::move(reader).rest()) {
    if (item.key == "backend_config") {
      instruction->backend_config = std::string(item.text);
    } else {
      instruction->extra.push_back({std::move(item.key), std::string(item.text)});
    }
  }
  LT_RETURN_IF_ERROR(annotate(*instruction, operation.attributes));
  return scope.computation->append(std::move(instruction));
}

Result<Instruction*> ModuleMaker::add_constant(Scope& scope, const MlirOperation& operation, Value value) {
  // Merges equal constants: texts repeat them at each use.
  std::string key;
  constexpr size_t kMostBytes = 64;
  if (value->known() && value->bytes().size() <= kMostBytes) {
    key = to_string(value->shape());
    key.append(reinterpret_cast<const char*>(value->bytes().data()), value->bytes().size());
    if (const auto same = scope.constants.find(key); same != scope.constants.end()) return same->second;
  }
  auto constant = std::make_unique<Instruction>();
  constant->opcode = Opcode::kConstant;
  constant->shape = value->shape();
  constant->attributes = ConstantAttributes{std::move(value)};
  constant->place = operation.place;
  constant->metadata = metadata(operation.location);
  Instruction* const added = scope.computation->append(std::move(constant));
  if (!key.empty()) scope.constants.emplace(std::move(key), added);
  return added;
}

void ModuleMaker::bind(Scope& scope, const MlirOperation& operation, Instruction* result, bool elements) {
  const auto wish = [&](std::string_view ssa) {
    if (result->name.empty() && result->opcode != Opcode::kParameter) result->name = name_of(ssa, result->opcode);
  };
  int64_t count = 0;
  for (const MlirResult& r : operation.results) count += r.count;
  const bool one_tuple = count == 1 && operation.types.size() == 1 && operation.types[0].is_tuple();
  const bool parts = elements || (count != 1 && !one_tuple);
  int64_t index = 0;
  for (const MlirResult& r : operation.results) {
    std::vector<Part>& bound = scope.values[r.name];
    bound.clear();
    for (int64_t k = 0; k < r.count; ++k, ++index) bound.push_back(parts ? Part{nullptr, result, index} : Part{result});
  }
  if (operation.results.size() == 1) wish(operation.results[0].name);
}

void ModuleMaker::bind_each(Scope& scope, const MlirOperation& operation, const std::vector<Instruction*>& results) {
  size_t next = 0;
  for (const MlirResult& r : operation.results) {
    std::vector<Part>& bound = scope.values[r.name];
    bound.clear();
    for (int64_t k = 0; k < r.count; ++k, ++next) bound.push_back({results[next]});
    if (r.count == 1 && results[next - 1]->name.empty()) {
      results[next - 1]->name = name_of(r.name, results[next - 1]->opcode);
    }
  }
}

Result<Instruction*> ModuleMaker::broadcast(Scope& scope, const MlirOperation& operation, Instruction* operand,
                                            const Dims& extents, const Dims& dims) {
  if (operand->shape.dims == extents && std::ranges::is_sorted(dims)) return operand;
  if (dims.size() != operand->shape.dims.size()) {
    return fault(operation.place,
                 fmt::format("found {} broadcast dimensions, expected one for each of the operand's {}", dims.size(),
                             operand->shape.dims.size()));
  }
  Dims kept_extents, kept;
  for (size_t d = 0; d < dims.size(); ++d) {
    const bool known = dims[d] >= 0 && dims[d] < static_cast<int64_t>(extents.size());
    if (known && operand->shape.dims[d] == 1 && extents[dims[d]] != 1) continue;
    kept_extents.push_back(operand->shape.dims[d]);
    kept.push_back(dims[d]);
  }
  if (kept.size() < dims.size()) {
    LT_ASSIGN_OR_RETURN(operand, add(scope, operation, Opcode::kReshape,
                                     Shape::array(operand->shape.type, std::move(kept_extents)), {operand}));
  }
  // Adding dimensions of extent 1 doesn't move elements: a reshape suffices.
  if (operand->shape.rank() > 0 && std::ranges::is_sorted(kept) && element_count(operand->shape) != 0 &&
      std::ranges::all_of(extents, [](int64_t extent) { return extent >= 0; }) &&
      element_count(operand->shape) == element_count(Shape::array(operand->shape.type, extents))) {
    return add(scope, operation, Opcode::kReshape, Shape::array(operand->shape.type, extents), {operand});
  }
  const std::string key = operand->opcode == Opcode::kConstant && !is_annotated(operation)
                              ? fmt::format("{} {} {}", operand->id, fmt::join(extents, ","), fmt::join(kept, ","))
                              : std::string();
  if (const auto same = scope.constants.find(key); !key.empty() && same != scope.constants.end()) return same->second;
  LT_ASSIGN_OR_RETURN(Instruction * result,
                      add(scope, operation, Opcode::kBroadcast, Shape::array(operand->shape.type, extents), {operand},
                          {{"dimensions", braced_dims(kept)}}));
  if (!key.empty()) scope.constants.emplace(key, result);
  return result;
}

Result<Instruction*> ModuleMaker::bundle(Scope& scope, const MlirOperation& operation,
                                         std::vector<Instruction*> values) {
  if (values.size() == 1) return values[0];
  std::vector<Shape> shapes;
  for (const Instruction* v : values) shapes.push_back(v->shape);
  MlirOperation origin;
  origin.place = operation.place;
  origin.location = operation.location;
  return add(scope, origin, Opcode::kTuple, Shape::tuple(std::move(shapes)), std::move(values));
}

Status ModuleMaker::annotate(Instruction& instruction, const MlirAttributes& attributes) {
  std::vector<std::string> frontend;
  for (const MlirAttribute& attribute : attributes) {
    if (attribute.key == "mhlo.sharding") {
      LT_ASSIGN_OR_RETURN(const std::string text, values_.string(attribute));
      Result<Sharding> sharding = parse_sharding(text);
      if (!sharding.ok()) return values_.fault(attribute, "sharding: " + sharding.status().message());
      instruction.sharding = std::make_shared<const Sharding>(sharding.take());
    } else if (attribute.key == "sdy.sharding") {
      const std::string_view text = values_.resolve(attribute).text;
      frontend.push_back("xla.sdy.sharding=" + quote(text));
      if (instruction.sharding) continue;
      const Result<Sharding> sharding =
          parse_sharding(instruction.shape.is_tuple() ? hlo_shardings_of_shardy(text, syntax_)
                                                      : hlo_sharding_of_shardy(text, syntax_));
      if (sharding.ok()) instruction.sharding = std::make_shared<const Sharding>(*sharding);
    } else if (attribute.key == "mhlo.frontend_attributes") {
      LT_ASSIGN_OR_RETURN(const std::string text, frontend_attributes_of(attribute, values_));
      if (text.size() > 2) frontend.push_back(text.substr(1, text.size() - 2));
    }
  }
  if (!frontend.empty()) instruction.frontend_attributes = fmt::format("{{{}}}", fmt::join(frontend, ","));
  return {};
}

const Metadata& ModuleMaker::metadata(std::string_view location) {
  const auto [entry, fresh] = metadata_.try_emplace(location);
  if (fresh && !location.empty()) entry->second = read_mlir_location(location, syntax_);
  return entry->second;
}

bool ModuleMaker::has_effect(const Instruction& i) const {
  const MemoryClass memory = memory_class(i.opcode);
  if (memory == MemoryClass::kCollective || memory == MemoryClass::kAsync) return true;
  switch (i.opcode) {
    case Opcode::kParameter:
    case Opcode::kInfeed:
    case Opcode::kOutfeed:
    case Opcode::kRng:
    case Opcode::kRngGetAndUpdateState: return true;
    case Opcode::kCustomCall: return i.as<CustomCallAttributes>().has_side_effect;
    default: break;
  }
  return std::ranges::any_of(i.called, [&](const Computation* c) { return effects_.contains(c); });
}

void ModuleMaker::finish(Computation& computation) {
  // Unused values aren't computed: lowering leaves many of them, and XLA drops them when it reads StableHLO.
  std::unordered_set<const Instruction*> used = {computation.root};
  const auto& all = computation.instructions();
  for (auto i = all.rbegin(); i != all.rend(); ++i) {
    const bool effect = has_effect(**i);
    if (effect && (*i)->opcode != Opcode::kParameter) effects_.insert(&computation);
    if (effect) used.insert(i->get());
    if (used.contains(i->get())) used.insert((*i)->operands.begin(), (*i)->operands.end());
  }
  computation.remove_if([&](const Instruction& i) { return !used.contains(&i); });
  computation.reorder(operands_first(computation));
  finish_names(computation);
}

void ModuleMaker::finish_names(Computation& computation) {
  std::unordered_set<std::string_view> used;
  std::unordered_map<std::string_view, int64_t> counts;
  for (const auto& i : computation.instructions()) {
    if (!i->name.empty() && !used.insert(i->name).second) i->name.clear();
  }
  for (const auto& i : computation.instructions()) {
    while (i->name.empty() || (used.contains(i->name) && used.find(i->name)->data() != i->name.data())) {
      i->name = fmt::format("{}.{}", opcode_name(i->opcode), ++counts[opcode_name(i->opcode)]);
    }
    used.insert(i->name);
  }
}

}  // namespace lowtide::engine
