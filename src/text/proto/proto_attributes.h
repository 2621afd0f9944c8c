#pragma once
/// HloInstructionProto's attributes as `key=text` in the form and order of HLO text, so that the operations' rules read
/// both formats alike.

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

/// All attributes except shape, operands, metadata, sharding, frontend attributes, control predecessors and backend
/// config. `instruction` has its opcode, shape and operands; `called` are the names of the computations it calls.
std::vector<RawAttribute> attributes_from_proto(const WireMessage& proto, const Instruction& instruction,
                                                const std::vector<std::string>& called);

/// A name that is valid in HLO text: letters, digits, `_`, `.` and `-`; other characters become `_`.
std::string name_from_proto(std::string_view raw);

Metadata metadata_from_proto(const WireMessage& proto);

/// FrontendAttributes: `{key="value",other={...}}`; empty if there are none.
std::string frontend_attributes_text(const WireMessage& proto);

/// A backend config as text: `{...}` unchanged, anything else quoted.
std::string config_text(std::string_view raw);

}  // namespace lowtide::engine
