#pragma once
/// The entry points of liblowtide_llvm.so, the library with everything that needs LLVM.

#include <string>

#include "codegen/grid_plan.h"
#include "codegen/kernel_plan.h"

namespace lowtide::engine {

inline constexpr char kLlvmEntryName[] = "lowtide_llvm_compile";
inline constexpr char kKernelSymbol[] = "kernel";

struct LlvmRequest {
  const Nest* nest = nullptr;  ///< plain: nest/legalise.h
  const KernelPlan* plan = nullptr;
  bool avx512 = false;  ///< else AVX2 and FMA
  bool want_text = false;
};

struct LlvmAnswer {
  std::string fault;   ///< empty: success
  std::string object;  ///< a relocatable object with the function kKernelSymbol
  std::string text;    ///< the LLVM IR, if requested
};

/// Thread-safe.
using LlvmCompile = void (*)(const LlvmRequest& request, LlvmAnswer& answer);

inline constexpr char kLlvmGridEntryName[] = "lowtide_llvm_compile_grid";

/// A nest for threads of a grid.
struct LlvmGridRequest {
  const Nest* nest = nullptr;  ///< plain
  const GridPlan* plan = nullptr;
  int32_t sm = 0;      ///< 80: PTX for sm_80, and so on; 0: an object for this machine with a GridFunction
  bool apart = false;  ///< no two buffers share a byte, so loads may move before stores
  bool want_text = false;
};

/// LlvmAnswer::object becomes PTX text, or the object.
using LlvmCompileGrid = void (*)(const LlvmGridRequest& request, LlvmAnswer& answer);

}  // namespace lowtide::engine
