#pragma once
/// HLO programs in protobuf form: xla/service/hlo.proto, as XLA writes them beside its text dumps.

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "ir/module.h"

namespace lowtide::engine {

/// Whether these bytes, the whole file, are an HloModuleProto or one of the messages that wrap it (HloProto,
/// snapshots).
bool is_hlo_proto(std::string_view bytes);

/// Reads the module; `name` is the file's, for faults. Instruction and computation names stay as they are in the file.
/// Errors: Fault::kInput, with the instruction where one is at fault. The result is not verified (ops/verify.h).
Result<std::unique_ptr<Module>> parse_hlo_proto(std::string_view bytes, const std::string& name,
                                                std::shared_ptr<Context> context = {});

/// What a listing of modules shows, without mapping the instructions.
struct HloProtoSummary {
  std::string module_name;
  int64_t instructions = 0;
};
HloProtoSummary summarize_hlo_proto(std::string_view bytes);

}  // namespace lowtide::engine
