#include "codegen/llvm/start.h"

#include <llvm/Support/CommandLine.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/TargetSelect.h>

#include <iterator>
#include <mutex>
#include <new>
#include <stdexcept>

namespace lowtide::engine {
namespace {

void initialise() {
  // By default LLVM aborts or exits, but the process belongs to the caller.
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
  // The scheduler before register allocation serialises interleaved dependency chains, which halves a hash's speed.
  // Conditional moves choose between elements, which a branch can't foresee.
  const char* arguments[] = {"lowtide", "-enable-misched=0", "-x86-cmov-converter=0"};
  llvm::cl::ParseCommandLineOptions(std::size(arguments), arguments);
}

}  // namespace

void start_llvm() {
  static std::once_flag once;
  std::call_once(once, initialise);
}

}  // namespace lowtide::engine

/// Raises a fatal LLVM error, so that tests can check that it becomes an exception.
extern "C" __attribute__((visibility("default"))) void lowtide_llvm_fail(const char* reason) {
  lowtide::engine::start_llvm();
  llvm::report_fatal_error(reason, false);
}
