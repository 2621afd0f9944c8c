#pragma once
/// Machine code for nests.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/text_hash.h"
#include "nest/nest.h"

namespace lowtide::engine {

class Context;

/// Iterations [begin, end) of the outermost loop of one piece. buffers: one address per Nest::buffers entry, then, for
/// a kernel with given numbers, their addresses.
using KernelFunction = void (*)(void* const* buffers, int64_t piece, int64_t begin, int64_t end);

struct KernelPiece {
  int64_t extent = 0;       ///< iterations of its outermost loop
  int64_t granule = 1;      ///< begin is a multiple of it
  double cost = 0;          ///< modelled nanoseconds of one iteration
  bool sequential = false;  ///< must run in one call, in order
};

struct Kernel {
  KernelFunction run = nullptr;
  std::vector<KernelPiece> pieces;
  std::shared_ptr<void> code;  ///< keeps the machine code mapped
  std::vector<int64_t> skips;  ///< per buffer: its bytes before the address passed to `run`; empty: none
  std::vector<int64_t> given;  ///< numbers of its nest that are arguments (codegen/shape_free.h); empty: none
  TextHash key;                ///< of the nest, its plan and the target
};

enum class Isa : uint8_t { kNative, kAvx512, kAvx2 };

struct CompileOptions {
  Isa isa = Isa::kNative;  ///< kNative: the context's choice, else the best available
  bool any_shape = false;  ///< if possible, one kernel for arrays of every shape (codegen/shape_free.h)
  bool use_cache = true;   ///< the context's kernels (codegen/kernel_store.h); false: compile each, keep none
  /// For kernels, dumps and progress; null: none.
  Context* context = nullptr;
};

struct CompileRecord {
  int64_t kernels = 0, distinct = 0, from_cache = 0;
  double seconds = 0;
};

/// Empty if this nest can be compiled, else a sentence that names what can't.
std::string can_compile(const Nest& nest);

/// The text that kernels depend on in addition to their nests: the processor, and the library that compiles them.
Result<std::string> kernel_target(const CompileOptions& options);

/// Called with the nests that are in no cache before any of them is compiled; an error ends the compilation.
using BeforeCompiling = std::function<Status(std::span<const Nest* const>)>;

/// One kernel per nest; equal nests share one. A kernel is found by its nest's own text, so that a wrong cache entry is
/// at worst not found. LLVM is loaded only if a kernel is in no cache.
Result<std::vector<Kernel>> compile_kernels(std::span<const Nest> nests, const CompileOptions& options,
                                            CompileRecord* record = nullptr, const BeforeCompiling& before = {});

}  // namespace lowtide::engine
