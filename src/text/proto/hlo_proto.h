#pragma once
/// HLO programs in protobuf form (xla/service/hlo.proto), which XLA writes in addition to its text dumps.

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "ir/module.h"

namespace lowtide::engine {

/// Whether these bytes, the whole file, are an HloModuleProto or one of the messages that wrap it (HloProto,
/// snapshots).
bool is_hlo_proto(std::string_view bytes);

/// Reads the module; `name` is the file's, for errors. Names of instructions and computations stay as in the file.
/// Errors: Fault::kInput, with the instruction concerned, if any. The result is not verified (ops/verify.h).
Result<std::unique_ptr<Module>> parse_hlo_proto(std::string_view bytes, const std::string& name,
                                                std::shared_ptr<Context> context = {});

/// The facts that a listing of modules shows, found without converting the instructions.
struct HloProtoSummary {
  std::string module_name;
  int64_t instructions = 0;
};
HloProtoSummary summarize_hlo_proto(std::string_view bytes);

}  // namespace lowtide::engine
