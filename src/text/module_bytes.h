#pragma once
/// From the bytes of one file to a module, whichever form they have.

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "ir/module.h"

namespace lowtide {

enum class ModuleForm : uint8_t { kNone, kHloText, kHloProto, kStableHlo };

/// What the bytes look like; `whole` says that they are the whole file, not its beginning. The name's ending decides
/// only where the bytes don't: between texts.
ModuleForm form_of(std::string_view bytes, std::string_view name, bool whole);

/// Reads a module; of a file with several programs (StableHLO's `// -----`) the one with this number, from 1. Faults
/// name the file and what was expected. The result is not verified (ops/verify.h).
Result<std::unique_ptr<Module>> parse_module(std::string bytes, const std::string& name, int64_t program = 0);

}  // namespace lowtide
