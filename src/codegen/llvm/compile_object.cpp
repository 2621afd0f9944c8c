// Compiles a module made by the Emitter to an object. No IR passes run: the emitter's IR is already good.

#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include <mutex>
#include <vector>

#include "codegen/llvm/emitter.h"
#include "codegen/llvm/start.h"
#include "codegen/llvm/write_module.h"
#include "codegen/llvm_entry.h"

namespace lowtide::engine {
namespace {

struct Host {
  std::string cpu, features;
};

// Queried once: on a virtual machine each query traps to the hypervisor.
const Host& host() {
  static const Host kHost = [] {
    Host host{llvm::sys::getHostCPUName().str(), ""};
    for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
      host.features +=
          (host.features.empty() ? "" : ",") + std::string(feature.second ? "+" : "-") + feature.first().str();
    }
    return host;
  }();
  return kHost;
}

using Machine = std::unique_ptr<llvm::TargetMachine>;

/// Unused machines, by instruction set: creating one takes as long as compiling a small kernel, and threads are
/// short-lived.
class IdleMachines {
 public:
  Machine take(bool avx512) {
    const std::lock_guard lock(mutex_);
    std::vector<Machine>& idle = idle_[avx512 ? 1 : 0];
    if (idle.empty()) return nullptr;
    Machine machine = std::move(idle.back());
    idle.pop_back();
    return machine;
  }
  void give_back(bool avx512, Machine machine) {
    const std::lock_guard lock(mutex_);
    idle_[avx512 ? 1 : 0].push_back(std::move(machine));
  }

 private:
  std::mutex mutex_;
  std::vector<Machine> idle_[2];
};
/// They are never destroyed: threads may compile while the process ends.
IdleMachines& idle_machines() {
  static IdleMachines& standing = *new IdleMachines;
  return standing;
}

/// Null: none could be made.
Machine machine_for(bool avx512, std::string& fault) {
  Machine machine = idle_machines().take(avx512);
  if (machine) return machine;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(kHostTriple, fault);
  if (!target) return machine;
  const std::string cpu = avx512 ? host().cpu : "x86-64-v3", features = avx512 ? host().features : "";
  const llvm::TargetOptions options;
  machine.reset(target->createTargetMachine(kHostTriple, cpu, features, options, llvm::Reloc::PIC_,
                                            llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
  return machine;
}

void compile(const LlvmRequest& request, llvm::TargetMachine& machine, LlvmAnswer& answer) {
  llvm::LLVMContext context;
  llvm::Module module("kernel", context);
  module.setTargetTriple(kHostTriple);
  module.setDataLayout(machine.createDataLayout());
  module.setPICLevel(llvm::PICLevel::BigPIC);
  Emitter(module, *request.nest, *request.plan, request.avx512).emit();
  write_module(module, machine, llvm::CodeGenFileType::ObjectFile, machine.getTargetCPU().str(), request.want_text,
               answer);
}

void compile(const LlvmRequest& request, LlvmAnswer& answer) {
  start_llvm();
  Machine machine = machine_for(request.avx512, answer.fault);
  if (!machine) return;
  try {
    compile(request, *machine, answer);
    idle_machines().give_back(request.avx512, std::move(machine));
  } catch (...) {  // the machine's state is unknown, so it isn't used again
    static_cast<void>(machine.release());
    throw;
  }
}

}  // namespace
}  // namespace lowtide::engine

extern "C" __attribute__((visibility("default"))) void lowtide_llvm_compile(const lowtide::engine::LlvmRequest& request,
                                                                            lowtide::engine::LlvmAnswer& answer) {
  lowtide::engine::compile(request, answer);
}
