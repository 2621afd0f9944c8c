#include "text/proto/proto_instruction.h"

#include <fmt/format.h>

#include <unordered_set>

#include "ops/op_rule.h"
#include "text/proto/proto_attributes.h"
#include "text/proto/proto_shape.h"
#include "text/proto/proto_sharding.h"

namespace lowtide::engine {
namespace {

using ById = std::unordered_map<int64_t, Instruction*>;

Status find_all(const std::vector<int64_t>& ids, const ById& known, std::vector<Instruction*>& out) {
  for (const int64_t id : ids) {
    const auto found = known.find(id);
    if (found == known.end())
      return Status::input(fmt::format("refers to instruction {}, which does not stand before it", id));
    out.push_back(found->second);
  }
  return {};
}

/// Passes the attributes to the operation's rule; those that it doesn't know are kept as text.
Status read_attributes(const WireMessage& proto, Instruction& instruction, const ProtoModule& shared) {
  std::vector<std::string> called;
  for (const int64_t id : proto.integers(kCalledComputationIds)) {
    const auto found = shared.computations.find(id);
    if (found == shared.computations.end())
      return Status::input(fmt::format("calls computation {}, which does not stand before it", id));
    called.push_back(found->second->name);
  }
  const std::vector<RawAttribute> attributes = attributes_from_proto(proto, instruction, called);
  std::vector<AttributeReader::Item> items;
  for (const RawAttribute& attribute : attributes) items.push_back({attribute.key, attribute.text, kNowhere, false});
  const auto find_computation = [&](std::string_view text, Offset) -> Result<Computation*> {
    if (text.starts_with("%")) text.remove_prefix(1);
    if (Computation* found = shared.module.find_computation(text)) return found;
    return Status::input(fmt::format("no computation is called '{}'", text));
  };
  const std::string payload =
      instruction.opcode == Opcode::kParameter ? std::to_string(proto.integer(kParameterNumber)) : "";
  AttributeReader reader(*shared.module.source, payload, kNowhere, std::move(items), find_computation);
  if (const OpRule& rule = rule_of(instruction.opcode); rule.read) LT_RETURN_IF_ERROR(rule.read(reader, instruction));
  for (const AttributeReader::Item& item : std::move(reader).rest())
    instruction.extra.push_back({item.key, std::string(item.text)});
  return {};
}

/// The text of a backend config, which is in the instruction or in the module's list of shared ones.
std::string_view backend_config(const WireMessage& proto, const ProtoModule& shared) {
  if (!proto.has(kBackendConfigPayload)) return proto.bytes(kBackendConfig);
  const WireMessage payload = proto.message(kBackendConfigPayload);
  if (payload.has(1)) return payload.bytes(1);
  const auto index = static_cast<uint64_t>(payload.integer(2));
  return payload.has(2) && index < shared.payloads.size() ? shared.payloads[index] : std::string_view();
}

Status read_instruction(const WireMessage& proto, const ById& known, const ProtoModule& shared,
                        Instruction& instruction) {
  const auto opcode = opcode_from_name(proto.bytes(kOpcodeName));
  if (!opcode) return Status::input(fmt::format("unknown operation '{}'", proto.bytes(kOpcodeName)));
  instruction.opcode = *opcode;
  instruction.shape = shape_from_proto(proto.message(kInstructionShape), shared.fault);
  LT_RETURN_IF_ERROR(find_all(proto.integers(kOperandIds), known, instruction.operands));
  LT_RETURN_IF_ERROR(find_all(proto.integers(kControlPredecessorIds), known, instruction.control_predecessors));
  instruction.metadata = metadata_from_proto(proto.message(kMetadataField));
  instruction.frontend_attributes = frontend_attributes_text(proto.message(kFrontendAttributes));
  if (const std::string_view config = backend_config(proto, shared); !config.empty())
    instruction.backend_config = config_text(config);
  if (proto.has(kShardingField)) {
    LT_ASSIGN_OR_RETURN(Sharding sharding, parse_sharding(sharding_text(proto.message(kShardingField))));
    instruction.sharding = std::make_shared<const Sharding>(std::move(sharding));
  }
  if (instruction.opcode != Opcode::kConstant) return read_attributes(proto, instruction, shared);
  Value value = literal_from_proto(proto.message(kLiteralField), shared.fault);
  if (!value) return Status::input(shared.fault.what ? shared.fault.what : "a constant without a value");
  instruction.attributes = ConstantAttributes{std::move(value)};
  return {};
}

Status apply_schedule(const std::vector<int64_t>& sequence, const ById& known, Computation& computation) {
  if (sequence.empty()) return {};
  std::vector<Instruction*> order;
  std::unordered_set<const Instruction*> seen;
  for (const int64_t id : sequence) {
    const auto found = known.find(id);
    if (found == known.end() || !seen.insert(found->second).second) break;
    for (const auto* needed : {&found->second->operands, &found->second->control_predecessors}) {
      for (const Instruction* before : *needed) {
        if (seen.contains(before)) continue;
        return Status::input(fmt::format("computation {}: the schedule puts {} before {}, which it needs",
                                         computation.name, found->second->name, before->name));
      }
    }
    order.push_back(found->second);
  }
  if (order.size() != sequence.size() || order.size() != computation.instructions().size()) {
    return Status::input(
        fmt::format("computation {}: the schedule does not name each instruction once", computation.name));
  }
  computation.reorder(order);
  return {};
}

}  // namespace

Result<Computation*> computation_from_proto(const WireMessage& proto, const std::vector<int64_t>& sequence,
                                            ProtoModule& shared) {
  enum : uint32_t { kName = 1, kInstructions = 2, kRootId = 6, kExecutionThread = 8 };
  Computation* computation =
      shared.module.add_computation(shared.module.unused_computation_name(name_from_proto(proto.bytes(kName))));
  if (proto.bytes(kExecutionThread) != "main") computation->execution_thread = proto.bytes(kExecutionThread);
  const std::vector<std::string_view> instructions = proto.texts(kInstructions);
  ById known;
  std::unordered_set<std::string> names;
  for (const std::string_view bytes : instructions) {
    const WireMessage message(bytes, shared.fault, 2);
    auto instruction = std::make_unique<Instruction>();
    instruction->name = name_from_proto(message.bytes(kInstructionName));
    const Status read = read_instruction(message, known, shared, *instruction);
    const auto fault = [&, name = instruction->name](const std::string& what) {
      return Status::input(fmt::format("instruction {} of {}: {}", name, computation->name, what));
    };
    if (shared.fault.what) return fault(shared.fault.what);
    if (!read.ok()) return fault(read.message());
    const auto* parameter = instruction->if_as<ParameterAttributes>();
    if (parameter && (parameter->number < 0 || parameter->number >= static_cast<int64_t>(instructions.size()))) {
      return fault(fmt::format("there can be no parameter {}", parameter->number));
    }
    if (!names.insert(instruction->name).second) return fault("the name occurs twice");
    Instruction* added = computation->append(std::move(instruction));
    if (!known.emplace(message.integer(kInstructionId), added).second) return fault("its id occurs twice");
  }
  const auto root = known.find(proto.integer(kRootId));
  if (root == known.end())
    return Status::input(fmt::format("computation {}: its root {} is not among its instructions", computation->name,
                                     proto.integer(kRootId)));
  computation->root = root->second;
  LT_RETURN_IF_ERROR(apply_schedule(sequence, known, *computation));
  return computation;
}

}  // namespace lowtide::engine
