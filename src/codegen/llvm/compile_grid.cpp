// Compiles kernels for threads of a grid: to PTX, or to an object for this machine, with which the PTX's loops can be
// checked. No IR passes run here either.

#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Target/TargetMachine.h>

#include "codegen/llvm/emitter.h"
#include "codegen/llvm/start.h"
#include "codegen/llvm/write_module.h"
#include "codegen/llvm_entry.h"

namespace lowtide::engine {
namespace {

constexpr char kDeviceTriple[] = "nvptx64-nvidia-cuda";
// PTX 8.3 belongs to CUDA 12.3. By default LLVM chooses the oldest version that supports the processor, whose kernels
// accept few parameters.
constexpr char kPtxVersion[] = "+ptx83";
constexpr size_t kMostParameterBytes = 32764;

void compile(const LlvmGridRequest& request, LlvmAnswer& answer) {
  start_llvm();
  const bool on_device = request.sm != 0;
  const char* triple = on_device ? kDeviceTriple : kHostTriple;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, answer.fault);
  if (!target) return;
  const std::string processor = on_device ? "sm_" + std::to_string(request.sm) : "x86-64-v3";
  const std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, processor, on_device ? kPtxVersion : "", llvm::TargetOptions(),
                                  llvm::Reloc::PIC_, llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
  const size_t parameter_bytes = sizeof(int64_t) * (request.nest->buffers.size() + 2);
  if (on_device && parameter_bytes > kMostParameterBytes) {
    answer.fault = "its parameters take " + std::to_string(parameter_bytes) + " bytes, a kernel has " +
                   std::to_string(kMostParameterBytes);
    return;
  }
  if (!machine->getMCSubtargetInfo()->isCPUStringValid(processor)) {
    answer.fault = "LLVM knows no processor " + processor;  // it would substitute another one
    return;
  }
  llvm::LLVMContext context;
  llvm::Module module("kernel", context);
  module.setTargetTriple(triple);
  module.setDataLayout(machine->createDataLayout());
  if (!on_device) module.setPICLevel(llvm::PICLevel::BigPIC);
  Emitter(module, *request.nest, request.plan->scalar, false).emit_grid(*request.plan, on_device, request.apart);
  const auto type = on_device ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
  write_module(module, *machine, type, processor, request.want_text, answer);
}

}  // namespace
}  // namespace lowtide::engine

extern "C" __attribute__((visibility("default"))) void lowtide_llvm_compile_grid(
    const lowtide::engine::LlvmGridRequest& request, lowtide::engine::LlvmAnswer& answer) {
  lowtide::engine::compile(request, answer);
}
