#pragma once
/// HloInstructionProto's attributes as the `key=text` that HLO text writes for them, in its order. The operations'
/// rules read both forms through one door.

#include <functional>
#include <string>
#include <vector>

#include "ir/module.h"
#include "text/proto/wire.h"

namespace lowtide::engine {

/// xla/service/hlo.proto, HloInstructionProto.
enum InstructionField : uint32_t {
  kInstructionName = 1,
  kOpcodeName = 2,
  kInstructionShape = 3,
  kMetadataField = 7,
  kLiteralField = 8,
  kParameterNumber = 9,
  kInstructionId = 35,
  kOperandIds = 36,
  kControlPredecessorIds = 37,
  kCalledComputationIds = 38,
  kShardingField = 40,
  kBackendConfig = 43,
  kFrontendAttributes = 68,
  kBackendConfigPayload = 99,
};

/// Everything but shape, operands, metadata, sharding, frontend attributes, control predecessors and backend config.
/// `instruction` has its opcode, shape and operands; `called` are the names of the computations it calls.
std::vector<RawAttribute> attributes_from_proto(const WireMessage& proto, const Instruction& instruction,
                                                const std::vector<std::string>& called);

/// A name that the text form can hold: letters, digits, `_`, `.` and `-`; others become `_`.
std::string name_from_proto(std::string_view raw);

Metadata metadata_from_proto(const WireMessage& proto);

/// FrontendAttributes: `{key="value",other={...}}`; empty where there are none.
std::string frontend_attributes_text(const WireMessage& proto);

/// `{...}` as it is, anything else quoted.
std::string config_text(std::string_view raw);

}  // namespace lowtide::engine
