#pragma once
/// Reads and prints HLO text.

#include <memory>
#include <string>

#include "base/status.h"
#include "ir/module.h"
#include "ops/literal_text.h"

namespace lowtide::engine {

/// Reads HLO text of any dialect (JAX's as_text("hlo"), compiled.as_text(), XLA dumps old and new). The module keeps
/// the source, so that later errors can refer to it. Errors: Fault::kInput with file:line:col, the line and a caret.
/// The result is not verified (ops/verify.h).
Result<std::unique_ptr<Module>> parse_hlo(std::shared_ptr<const Source> source, std::shared_ptr<Context> context = {});

struct HloPrintOptions {
  LargeConstants large_constants = LargeConstants::kWhole;
  bool metadata = true;  ///< op names, sources, stack-frame tables
};

/// Text that parse_hlo and XLA read; print(parse(print(m))) == print(m).
std::string print_hlo(const Module& module, const HloPrintOptions& options = {});
/// One instruction as a line of HLO text, without indentation or line end.
std::string print_hlo(const Instruction& instruction, const HloPrintOptions& options = {});

}  // namespace lowtide::engine
