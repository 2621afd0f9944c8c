#include <fmt/format.h>

#include <algorithm>

#include "ops/op_rule.h"
#include "text/hlo/parser.h"
#include "text/hlo/shape_reader.h"
#include "text/hlo/suggest.h"

namespace lowtide::engine {
namespace {

constexpr int kDeepestOperand = 64;      // add(max(min(...)))
constexpr size_t kMostAttributes = 128;  // in one instruction

/// Can't the result's shape of these operations be inferred from operands and attributes?
bool needs_written_shape(Opcode opcode) {
  switch (opcode) {
    case Opcode::kBitcast:
    case Opcode::kBitcastConvert:
    case Opcode::kConstant:
    case Opcode::kConvert:
    case Opcode::kCustomCall:
    case Opcode::kFusion:
    case Opcode::kInfeed:
    case Opcode::kIota:
    case Opcode::kParameter:
    case Opcode::kRecv:
    case Opcode::kReducePrecision:
    case Opcode::kReshape:
    case Opcode::kDynamicReshape:
    case Opcode::kRng:
    case Opcode::kRngBitGenerator:
    case Opcode::kRngGetAndUpdateState:
    case Opcode::kStochasticConvert: return true;
    default: {
      const MemoryClass memory = memory_class(opcode);
      return memory == MemoryClass::kCollective || memory == MemoryClass::kAsync;
    }
  }
}

/// Do the parentheses contain something other than operands, as in `parameter(0)`?
bool has_payload(Opcode opcode) { return opcode == Opcode::kParameter || opcode == Opcode::kConstant; }

/// Splits `reduce-scatter-start` into the stage of an asynchronous operation and the operation itself.
std::optional<std::pair<Opcode, Opcode>> async_sugar(std::string_view word) {
  constexpr std::pair<std::string_view, Opcode> kStages[] = {
      {"-start", Opcode::kAsyncStart}, {"-update", Opcode::kAsyncUpdate}, {"-done", Opcode::kAsyncDone}};
  for (const auto& [suffix, stage] : kStages) {
    if (!word.ends_with(suffix)) continue;
    const std::optional<Opcode> wrapped = opcode_from_name(word.substr(0, word.size() - suffix.size()));
    if (wrapped) return std::pair(stage, *wrapped);
  }
  return std::nullopt;
}

std::vector<std::string_view> all_opcodes() {
  std::vector<std::string_view> names;
  for (int i = 0; i < kOpcodeCount; ++i) names.push_back(opcode_name(static_cast<Opcode>(i)));
  return names;
}

}  // namespace

Status HloParser::read_instruction(Scanner& scanner, Scope& scope) {
  scanner.peek();
  Offset place = scanner.place();
  std::string_view name = scanner.name();
  bool is_root = false;
  if (name == "ROOT" && scanner.peek() != '=') {
    is_root = true;
    scanner.peek();
    place = scanner.place();
    name = scanner.name();
  }
  if (name.empty()) return scanner.expected("an instruction or '}'");
  if (!scanner.eat("=")) return scanner.expected(fmt::format("'=' behind the name '{}'", name));
  const auto same = scope.instructions.find(name);
  if (same != scope.instructions.end()) {
    if (!scope.unnamed.contains(same->second)) {
      return scanner.fault(place,
                           fmt::format("'{}' is defined twice in computation '{}'", name, scope.computation->name));
    }
    Instruction* const unnamed = same->second;
    scope.instructions.erase(same);
    unnamed->name = name_for_unnamed(scope, opcode_name(unnamed->opcode));
    scope.instructions.emplace(unnamed->name, unnamed);
  }
  LT_ASSIGN_OR_RETURN(Instruction * instruction, read_operation(scanner, scope, name, place, 0));
  if (!is_root) return {};
  if (scope.computation->root) {
    return scanner.fault(place, fmt::format("found a second ROOT in computation '{}'", scope.computation->name));
  }
  scope.computation->root = instruction;
  return {};
}

Result<Instruction*> HloParser::read_operation(Scanner& scanner, Scope& scope, std::string_view name, Offset place,
                                               int depth) {
  auto instruction = std::make_unique<Instruction>();
  instruction->place = place;
  instruction->parent = scope.computation;
  const bool has_shape = shape_follows(scanner);
  if (has_shape) {
    LT_ASSIGN_OR_RETURN(instruction->shape, read_shape(scanner));
  }
  scanner.peek();
  const Offset opcode_place = scanner.place();
  LT_RETURN_IF_ERROR(read_opcode(scanner, *instruction));
  const Opcode opcode = instruction->opcode;
  if (!has_shape && (needs_written_shape(opcode) || !rule_of(opcode).infer)) {
    return scanner.fault(opcode_place,
                         fmt::format("found no shape before '{}', whose result needs one", opcode_name(opcode)));
  }

  if (scanner.peek() != '(') return scanner.expected("'(' and the operands");
  std::string_view payload;
  Offset payload_place = scanner.place();
  if (opcode_arity(opcode) == 0) {
    payload = scanner.bracketed();
    if (payload.empty()) return scanner.expected("'(' with its partner ')'");
    payload = payload.substr(1, payload.size() - 2);
    ++payload_place;
    if (!has_payload(opcode) && skip_blank(payload, 0) < payload.size()) {
      return scanner.fault(payload_place, fmt::format("{} takes no operands, expected ')'", opcode_name(opcode)));
    }
  } else {
    LT_RETURN_IF_ERROR(read_operands(scanner, scope, *instruction, depth));
  }
  std::vector<Item> items;
  if (!name.empty()) LT_RETURN_IF_ERROR(read_attributes(scanner, scope, *instruction, items));
  instruction->name = name.empty() ? name_for_unnamed(scope, opcode_name(opcode)) : std::string(name);
  const int arity = opcode_arity(opcode);
  if (arity > 0 && static_cast<size_t>(arity) != instruction->operands.size()) {
    return scanner.fault(
        opcode_place, fmt::format("{}: found {} operand{}, expected {}", opcode_name(opcode),
                                  instruction->operands.size(), instruction->operands.size() == 1 ? "" : "s", arity));
  }
  Status status = apply_rule(scope, *instruction, payload, payload_place, std::move(items));
  if (status.ok() && !has_shape) {
    Result<Shape> shape = rule_of(opcode).infer(*instruction);
    status = shape.status();
    if (shape.ok()) instruction->shape = shape.take();
  }
  if (!status.ok()) {
    if (status.has_place()) return status;
    return Status(status.fault(), fmt::format("{}: {}", opcode_name(opcode), status.message()))
        .at(*source_, opcode_place);
  }
  Instruction* const added = scope.computation->append(std::move(instruction));
  scope.instructions.emplace(added->name, added);
  if (name.empty()) scope.unnamed.insert(added);
  return added;
}

Status HloParser::read_opcode(Scanner& scanner, Instruction& instruction) {
  const Offset place = scanner.place();
  if (!is_name_start(scanner.peek())) return scanner.expected("a shape or an operation");
  const std::string_view word = scanner.word();
  if (const std::optional<Opcode> opcode = opcode_from_name(word)) {
    instruction.opcode = *opcode;
    return {};
  }
  if (const auto sugar = async_sugar(word)) {
    instruction.opcode = sugar->first;
    auto attributes = std::make_shared<AsyncAttributes>();
    attributes->wrapped = sugar->second;
    instruction.attributes = std::move(attributes);
    return {};
  }
  return scanner.fault(place,
                       fmt::format("found '{}', expected an operation{}", word, did_you_mean(word, all_opcodes())));
}

Status HloParser::read_operands(Scanner& scanner, Scope& scope, Instruction& instruction, int depth) {
  scanner.eat("(");
  while (scanner.peek() != ')') {
    LT_ASSIGN_OR_RETURN(Instruction * operand, read_operand(scanner, scope, depth + 1));
    instruction.operands.push_back(operand);
    if (!scanner.eat(",")) break;
  }
  if (!scanner.eat(")")) return scanner.expected("',' or ')' behind an operand");
  return {};
}

Result<Instruction*> HloParser::read_operand(Scanner& scanner, Scope& scope, int depth) {
  if (depth > kDeepestOperand) return scanner.expected("operations nested less deeply");
  Scanner ahead = scanner;  // looks ahead: a nested operation is then read from its shape on
  if (shape_follows(ahead)) {
    const Result<Shape> shape = read_shape(ahead);
    if (!shape.ok()) return shape.status();
  }
  ahead.peek();
  const Offset place = ahead.place();
  const std::string_view name = ahead.name();
  if (name.empty()) return ahead.expected("an operand");
  if (ahead.peek() == '(' && !scope.instructions.contains(name)) {
    scanner.peek();
    return read_operation(scanner, scope, "", scanner.place(), depth);
  }
  scanner.move_to(ahead.at());
  return find_instruction(scanner, scope, name, place);
}

Result<Instruction*> HloParser::find_instruction(const Scanner& scanner, const Scope& scope, std::string_view name,
                                                 Offset place) const {
  const auto found = scope.instructions.find(name);
  if (found != scope.instructions.end()) return found->second;
  std::vector<std::string_view> known;
  for (const auto& instruction : scope.computation->instructions()) known.push_back(instruction->name);
  return scanner.fault(place, fmt::format("no instruction before this one in computation '{}' is named '{}'{}",
                                          scope.computation->name, name, did_you_mean(name, known)));
}

Status HloParser::read_attributes(Scanner& scanner, Scope& scope, Instruction& instruction, std::vector<Item>& items) {
  while (scanner.eat(",")) {
    scanner.peek();
    const Offset key_place = scanner.place();
    const std::string_view key = scanner.word();
    if (key.empty() || !scanner.eat("=")) return scanner.expected("an attribute: key=value");
    scanner.peek();
    Item item{std::string(key), {}, scanner.place()};
    item.text = scanner.attribute_value();
    if (item.text.empty()) return scanner.expected(fmt::format("a value for '{}', with matching brackets", key));
    bool shared = false;
    LT_RETURN_IF_ERROR(read_shared_attribute(scanner, scope, instruction, item, shared));
    if (shared) continue;
    for (const Item& other : items) {
      if (other.key == key) return scanner.fault(key_place, fmt::format("attribute '{}' is given twice", key));
    }
    if (items.size() == kMostAttributes) {
      return scanner.fault(key_place, fmt::format("found more than {} attributes", kMostAttributes));
    }
    items.push_back(std::move(item));
  }
  return {};
}

Status HloParser::read_shared_attribute(const Scanner& scanner, const Scope& scope, Instruction& instruction,
                                        const Item& item, bool& known) {
  known = true;
  if (item.key == "sharding") {
    auto& sharding = shardings_[item.text];
    if (!sharding) {
      const Result<Sharding> parsed = parse_sharding(item.text);
      if (!parsed.ok()) return scanner.fault(item.place, "sharding: " + parsed.status().message());
      sharding = std::make_shared<const Sharding>(*parsed);
    }
    instruction.sharding = sharding;
  } else if (item.key == "metadata") {
    Metadata metadata;
    known = read_metadata(item.text, metadata);
    if (known) instruction.metadata = std::move(metadata);
  } else if (item.key == "frontend_attributes") {
    instruction.frontend_attributes = std::string(item.text);
  } else if (item.key == "backend_config") {
    instruction.backend_config = std::string(item.text);
  } else if (item.key == "control-predecessors") {
    Scanner names(*source_, item.place);
    if (!names.eat("{")) return names.expected("instructions in braces");
    while (names.peek() != '}') {
      const Offset place = names.place();
      const std::string_view name = names.name();
      if (name.empty()) return names.expected("an instruction");
      LT_ASSIGN_OR_RETURN(Instruction * before, find_instruction(scanner, scope, name, place));
      instruction.control_predecessors.push_back(before);
      if (!names.eat(",")) break;
    }
    if (!names.eat("}")) return names.expected("',' or '}'");
  } else {
    known = false;
  }
  return {};
}

Status HloParser::apply_rule(Scope& scope, Instruction& instruction, std::string_view payload, Offset payload_place,
                             std::vector<Item> items) {
  Scope* const outer = std::exchange(scope_, &scope);
  AttributeReader reader(*source_, payload, payload_place, std::move(items),
                         [this](std::string_view text, Offset place) { return find_computation(text, place); });
  const auto* async = instruction.if_as<std::shared_ptr<const AsyncAttributes>>();
  if (async) {
    const std::shared_ptr<const AsyncAttributes> named = *async;
    const OpRule& rule = rule_of(named->wrapped);
    if (instruction.opcode == Opcode::kAsyncStart && rule.read) {
      instruction.attributes = std::monostate();
      LT_RETURN_IF_ERROR(rule.read(reader, instruction));
      auto both = std::make_shared<AsyncAttributes>();
      both->wrapped = named->wrapped;
      both->inner = std::move(instruction.attributes);
      instruction.attributes = std::move(both);
    }
  } else if (const OpRule& rule = rule_of(instruction.opcode); rule.read) {
    LT_RETURN_IF_ERROR(rule.read(reader, instruction));
  }
  scope_ = outer;
  for (Item& item : std::move(reader).rest()) {
    instruction.extra.push_back({std::move(item.key), std::string(item.text)});
  }
  return {};
}

std::string HloParser::name_for_unnamed(const Scope& scope, std::string_view base) {
  std::string candidate(base);
  int64_t& count = unnamed_[candidate];
  while (scope.instructions.contains(candidate) || candidate == base) candidate = fmt::format("{}.{}", base, ++count);
  return candidate;
}

}  // namespace lowtide::engine
