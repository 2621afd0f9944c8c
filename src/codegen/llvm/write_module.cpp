#include "codegen/llvm/write_module.h"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

namespace lowtide::engine {

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
  passes.run(module);
  answer.object.assign(made.begin(), made.end());
}

}  // namespace lowtide::engine
