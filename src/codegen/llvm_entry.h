#pragma once
/// The one door of liblowtide_llvm.so, the library that holds everything that needs LLVM.

#include <string>

#include "codegen/kernel_plan.h"

namespace lowtide {

inline constexpr char kLlvmEntryName[] = "lowtide_llvm_compile";
inline constexpr char kKernelSymbol[] = "kernel";

struct LlvmRequest {
  const Nest* nest = nullptr;  ///< plain: nest/legalise.h
  const KernelPlan* plan = nullptr;
  bool avx512 = false;  ///< else AVX2 and FMA
  bool want_text = false;
};

struct LlvmAnswer {
  std::string fault;   ///< empty: it went well
  std::string object;  ///< a relocatable object with the function kKernelSymbol
  std::string text;    ///< the LLVM IR, where it was wanted
};

/// Threads may call it side by side.
using LlvmCompile = void (*)(const LlvmRequest& request, LlvmAnswer& answer);

}  // namespace lowtide
