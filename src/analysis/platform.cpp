#include "analysis/platform.h"

#include <algorithm>
#include <span>
#include <string_view>

namespace lowtide::engine {
namespace {

/// Prefixes of custom-call targets: CUDA's and ROCm's libraries, Triton, Transformer Engine, JAX's own.
constexpr std::string_view kGpuCalls[] = {"te_",   "__cu",      "__triton",   "__gpu$", "cu_",
                                          "cuda_", "cusolver_", "cublas_",    "cudnn",  "hip",
                                          "rocm_", "triton_",   "mosaic_gpu", "nvshmem"};
constexpr std::string_view kTpuCalls[] = {"tpu_custom_call", "Mosaic"};
/// Words in XLA's own annotations (backend_config).
constexpr std::string_view kGpuNotes[] = {"operation_queue_id", "fusion_backend_config", "gemm_backend_config",
                                          "cudnn_", "reification_cost"};

bool begins_with_one_of(std::string_view text, std::span<const std::string_view> all) {
  return std::ranges::any_of(all, [&](std::string_view word) { return text.starts_with(word); });
}

bool is_in_tiles(const Shape& shape) {
  bool found = shape.layout && !shape.layout->tiles.empty();
  for (const Shape& element : shape.elements) found = found || is_in_tiles(element);
  return found;
}

Platform platform_of(const Instruction& i) {
  if (i.opcode == Opcode::kCustomCall) {
    const std::string& target = i.as<CustomCallAttributes>().target;
    if (begins_with_one_of(target, kTpuCalls)) return Platform::kTpu;
    if (begins_with_one_of(target, kGpuCalls)) return Platform::kGpu;
  }
  if (is_in_tiles(i.shape)) return Platform::kTpu;
  const auto is_noted = [&](std::string_view word) { return i.backend_config.find(word) != std::string::npos; };
  return std::ranges::any_of(kGpuNotes, is_noted) ? Platform::kGpu : Platform::kUnknown;
}

}  // namespace

Platform platform_of(const Module& module) {
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      if (const Platform platform = platform_of(*i); platform != Platform::kUnknown) return platform;
    }
  }
  return Platform::kUnknown;
}

}  // namespace lowtide::engine
