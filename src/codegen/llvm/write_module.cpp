#include "codegen/llvm/write_module.h"

#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

namespace lowtide::engine {
namespace {

/// Records an error. Without this handler LLVM prints it and exits.
void take_diagnostic(const llvm::DiagnosticInfo* info, void* fault) {
  if (info->getSeverity() != llvm::DS_Error) return;
  llvm::raw_string_ostream stream(*static_cast<std::string*>(fault));
  llvm::DiagnosticPrinterRawOStream printer(stream);
  info->print(printer);
}

}  // namespace

void write_module(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType type,
                  const std::string& processor, bool want_text, LlvmAnswer& answer) {
  if (want_text) {
    llvm::raw_string_ostream stream(answer.text);
    module.print(stream, nullptr);
  }
  llvm::raw_string_ostream faults(answer.fault);
  if (llvm::verifyModule(module, &faults)) return;
  answer.fault.clear();
  llvm::SmallVector<char, 0> made;
  llvm::raw_svector_ostream stream(made);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type)) {
    answer.fault = "LLVM can't write code for " + processor;
    return;
  }
  module.getContext().setDiagnosticHandlerCallBack(take_diagnostic, &answer.fault);
  passes.run(module);
  if (!answer.fault.empty()) return;
  answer.object.assign(made.begin(), made.end());
}

}  // namespace lowtide::engine
