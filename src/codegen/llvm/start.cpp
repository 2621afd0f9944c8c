#include "codegen/llvm/start.h"

#include <llvm/Support/CommandLine.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/TargetSelect.h>

#include <mutex>
#include <new>
#include <stdexcept>

namespace lowtide::engine {
namespace {

void initialise() {
  // Else it aborts, or exits: the process is somebody else's.
  llvm::install_bad_alloc_error_handler([](void*, const char*, bool) { throw std::bad_alloc(); });
  llvm::install_fatal_error_handler([](void*, const char* reason, bool) { throw std::runtime_error(reason); });
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  // The scheduler before register allocation puts interleaved chains one after the other: half the speed of a hash.
  const char* arguments[] = {"lowtide", "-enable-misched=0"};
  llvm::cl::ParseCommandLineOptions(2, arguments);
}

}  // namespace

void start_llvm() {
  static std::once_flag once;
  std::call_once(once, initialise);
}

}  // namespace lowtide::engine

/// What LLVM does where it calls something fatal: the tests' way to see that it comes back as an exception.
extern "C" __attribute__((visibility("default"))) void lowtide_llvm_fail(const char* reason) {
  lowtide::engine::start_llvm();
  llvm::report_fatal_error(reason, false);
}
