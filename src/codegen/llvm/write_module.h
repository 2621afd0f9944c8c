#pragma once
/// From LLVM's text to what a machine takes.

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include "codegen/llvm_entry.h"

namespace lowtide::engine {

inline constexpr char kHostTriple[] = "x86_64-unknown-linux-gnu";

/// Writes the module as a file of the machine's, and its text where that is wanted. Answers a fault where the verifier
/// finds one, or where the machine can't be written for, which `processor` names.
void write_module(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType type,
                  const std::string& processor, bool want_text, LlvmAnswer& answer);

}  // namespace lowtide::engine
