#pragma once
/// Emits machine code from LLVM modules.

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include "codegen/llvm_entry.h"

namespace lowtide::engine {

inline constexpr char kHostTriple[] = "x86_64-unknown-linux-gnu";

/// Emits the module as a file for the machine, and its text if requested. Returns an error if the verifier finds one,
/// or if the machine, named by `processor`, isn't supported.
void write_module(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType type,
                  const std::string& processor, bool want_text, LlvmAnswer& answer);

}  // namespace lowtide::engine
