#pragma once
/// Reads a module from the bytes of a file in any supported form.

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "ir/module.h"

namespace lowtide::engine {

enum class ModuleForm : uint8_t { kNone, kHloText, kHloProto, kStableHlo, kBytecode };

/// The form of the bytes; whole: they are the whole file, not only its beginning. The name's ending decides only where
/// the bytes don't: between forms of text.
ModuleForm form_of(std::string_view bytes, std::string_view name, bool whole);

/// Which part of a file of StableHLO is the program.
struct ProgramChoice {
  int64_t number = 0;    ///< of the programs separated by `// -----`, counted from 1; 0: there is only one
  std::string function;  ///< the entry; empty: @main, or the only public function
  bool given() const { return number != 0 || !function.empty(); }
};

/// Reads a module, or the selected part of it; `name` has the selection after a '#'. Errors name the file and what was
/// expected. The result is not verified (ops/verify.h).
Result<std::unique_ptr<Module>> parse_module(std::string bytes, const std::string& name,
                                             const ProgramChoice& choice = {}, std::shared_ptr<Context> context = {});

}  // namespace lowtide::engine
