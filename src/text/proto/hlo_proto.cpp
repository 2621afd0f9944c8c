#include "text/proto/hlo_proto.h"

#include <fmt/format.h>

#include "ops/attribute_text.h"
#include "ops/start_indices.h"
#include "text/proto/proto_attributes.h"
#include "text/proto/proto_instruction.h"
#include "text/proto/proto_shape.h"
#include "text/proto/proto_sharding.h"

namespace lowtide::engine {
namespace {

/// The fields of HloModuleProto.
enum ModuleField : uint32_t {
  kName = 1,
  kEntryName = 2,
  kComputations = 3,
  kHostProgramShape = 4,
  kEntryId = 6,
  kSchedule = 7,
  kInputOutputAlias = 8,
  kDeviceAssignment = 15,
  kStackFrameIndex = 17,
  kBufferDonor = 18,
  kModuleFrontendAttributes = 19,
  kPayloads = 22,
};
constexpr uint32_t kComputationId = 5, kInstructions = 2;

bool is_module(std::string_view bytes) {
  WireFault fault;
  const WireMessage module(bytes, fault);
  const auto computations = module.texts(kComputations);
  if (fault.what || computations.empty()) return false;
  const auto instructions = WireMessage(computations.front(), fault).texts(kInstructions);
  if (fault.what || instructions.empty()) return false;
  const WireMessage instruction(instructions.front(), fault);
  return !fault.what && opcode_from_name(instruction.bytes(kOpcodeName)) && instruction.has(kInstructionShape);
}

/// Finds the HloModuleProto: the message itself, field 1 of HloProto or HloUnoptimizedSnapshot, or field 1 of field 1
/// of HloSnapshot.
std::string_view find_module(std::string_view bytes) {
  for (int level = 0; level < 3 && !bytes.empty(); ++level) {
    if (is_module(bytes)) return bytes;
    WireFault fault;
    bytes = WireMessage(bytes, fault).bytes(1);
  }
  return {};
}

void read_stack_frames(const WireMessage& proto, StackFrames& stack) {
  for (const std::string_view name : proto.texts(1)) stack.files.emplace_back(name);
  for (const std::string_view name : proto.texts(2)) stack.functions.emplace_back(name);
  for (const WireMessage& row : proto.messages(3)) {
    stack.locations.push_back(
        {row.integer(1), row.integer(2), row.integer(3), row.integer(5), row.integer(4), row.integer(6)});
  }
  for (const WireMessage& row : proto.messages(4)) {  // parents in text are one larger: 1 means none
    stack.frames.push_back({row.integer(1), static_cast<int64_t>(static_cast<uint64_t>(row.integer(2)) + 1)});
  }
}

void read_aliases(const WireMessage& proto, Module& module) {
  constexpr int64_t kMustAlias = 2;
  for (const WireMessage& entry : proto.message(kInputOutputAlias).messages(1)) {
    module.input_output_alias.push_back(
        {entry.integers(1), entry.integer(2), entry.integers(3), entry.integer(4) == kMustAlias});
  }
  for (const WireMessage& entry : proto.message(kBufferDonor).messages(1)) {
    module.buffer_donors.push_back({entry.integer(1), entry.integers(2)});
  }
}

Shape entry_layout(const WireMessage& program_shape, WireFault& fault) {
  std::vector<Shape> parameters;
  for (const WireMessage& shape : program_shape.messages(1)) parameters.push_back(shape_from_proto(shape, fault));
  return Shape::tuple({Shape::tuple(std::move(parameters)), shape_from_proto(program_shape.message(2), fault)});
}

std::unordered_map<int64_t, std::vector<int64_t>> schedule(const WireMessage& proto) {
  std::unordered_map<int64_t, std::vector<int64_t>> sequences;
  for (const WireMessage& entry : proto.messages(1)) sequences[entry.integer(1)] = entry.message(2).integers(1);
  return sequences;
}

Status read_module(const WireMessage& proto, WireFault& fault, Module& module) {
  module.name = name_from_proto(proto.bytes(kName));
  module.is_scheduled = proto.has(kSchedule);
  read_aliases(proto, module);
  read_stack_frames(proto.message(kStackFrameIndex), module.stack);
  module.frontend_attributes = frontend_attributes_text(proto.message(kModuleFrontendAttributes));
  if (proto.has(kHostProgramShape)) module.entry_layout = entry_layout(proto.message(kHostProgramShape), fault);
  // The numbers of replicas and partitions aren't fields of the module, but of its device assignment.
  const WireMessage devices = proto.message(kDeviceAssignment);
  if (devices.integer(1) > 1) module.replica_count = devices.integer(1);
  if (devices.integer(2) > 1) module.num_partitions = devices.integer(2);

  ProtoModule shared{module, fault, proto.texts(kPayloads), {}};
  const auto sequences = schedule(proto.message(kSchedule));
  if (fault.what) return Status::input(fmt::format("malformed protobuf: {}", fault.what));
  for (const std::string_view bytes : proto.texts(kComputations)) {
    const WireMessage computation(bytes, fault, 1);
    const int64_t id = computation.integer(kComputationId);
    const auto sequence = sequences.find(id);
    LT_ASSIGN_OR_RETURN(
        Computation * added,
        computation_from_proto(computation, sequence == sequences.end() ? std::vector<int64_t>() : sequence->second,
                               shared));
    if (!shared.computations.emplace(id, added).second)
      return Status::input(fmt::format("two computations have the id {}", id));
  }
  const auto entry = shared.computations.find(proto.integer(kEntryId));
  module.entry = entry != shared.computations.end() ? entry->second : module.find_computation(proto.bytes(kEntryName));
  if (!module.entry) return Status::input("the module's entry computation is not among its computations");
  return {};
}

}  // namespace

bool is_hlo_proto(std::string_view bytes) { return !find_module(bytes).empty(); }

Result<std::unique_ptr<Module>> parse_hlo_proto(std::string_view bytes, const std::string& name,
                                                std::shared_ptr<Context> context) {
  const std::string_view found = find_module(bytes);
  if (found.empty()) return Status::input(fmt::format("{}: no HLO module in this protobuf", name));
  WireFault fault;
  const WireMessage proto(found, fault);
  auto module = std::make_unique<Module>(std::move(context));
  module->source = std::make_shared<const Source>(Source{name, ""});
  const Status read = read_module(proto, fault, *module);
  if (!read.ok()) return Status(read.fault(), fmt::format("{}: {}", name, read.message()));
  if (fault.what) return Status::input(fmt::format("{}: malformed protobuf: {}", name, fault.what));
  split_start_vectors(*module);
  return module;
}

HloProtoSummary summarize_hlo_proto(std::string_view bytes) {
  WireFault fault;
  const WireMessage module(find_module(bytes), fault);
  HloProtoSummary summary{std::string(module.bytes(kName)), 0};
  for (const std::string_view computation : module.texts(kComputations)) {
    summary.instructions += static_cast<int64_t>(WireMessage(computation, fault).count(kInstructions));
  }
  return summary;
}

}  // namespace lowtide::engine
