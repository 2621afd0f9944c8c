#include "backend/cpu/program_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "base/context.h"
#include "base/memory.h"
#include "base/sizes.h"
#include "codegen/llvm_library.h"
#include "nest/rebase.h"
#include "runtime/plain_nest.h"
#include "schedule/kernel_way.h"

namespace lowtide::engine {
namespace {

/// Finds the step of each region.
void find_steps(const std::vector<ProgramStep>& steps, std::vector<const ProgramStep*>& step_of) {
  for (const ProgramStep& step : steps) {
    if (step.kind == StepKind::kKernel) step_of[step.region] = &step;
    for (const auto& block : step.blocks) find_steps(block, step_of);
  }
}

/// Regions with one nest that are compiled in the same way.
struct Source {
  const Region* region = nullptr;  ///< the first of them
  const Nest* nest = nullptr;
  bool strips = false;
  Kernel kernel;
};

std::vector<int64_t> bytes_of(const std::vector<int64_t>& first, const Nest& nest) {
  std::vector<int64_t> bytes = first;
  for (size_t b = 0; b < bytes.size(); ++b) bytes[b] *= stored_bytes(nest.buffers[b].type);
  return bytes;
}

class ProgramKernels {
 public:
  ProgramKernels(const LoweredProgram& lowered, const CompileOptions& options)
      : lowered_(lowered), program_(*lowered.program), options_(options), context_(program_.module->context()) {
    options_.context = &context_;
  }

  Result<std::vector<Kernel>> run(CompileRecord& record) {
    find_sources();
    LT_RETURN_IF_ERROR(compile(record));
    std::set<TextHash> distinct;
    for (const Source& source : sources_) distinct.insert(source.kernel.key);
    record.distinct = std::ssize(distinct);
    record.kernels = program_.kernels;
    std::vector<Kernel> kernels;
    for (const int64_t source : source_of_) kernels.push_back(source == kNoId ? Kernel() : sources_[source].kernel);
    return kernels;
  }

 private:
  void find_sources() {
    std::vector<const ProgramStep*> step_of(program_.regions.size(), nullptr);
    find_steps(program_.steps, step_of);
    std::map<std::pair<const Nest*, bool>, int64_t> known;
    for (size_t r = 0; r < program_.regions.size(); ++r) {
      const Nest* const nest = lowered_.nests[r].get();
      const KernelWay* const way = step_of[r]->way.get();
      if (nest == nullptr || (way && way->rearrangement)) {  // runs without a kernel
        source_of_.push_back(kNoId);
        continue;
      }
      const bool strips = way && way->strips;
      const auto [place, fresh] = known.try_emplace({nest, strips}, std::ssize(known));
      source_of_.push_back(place->second);
      if (fresh) sources_.push_back({&program_.regions[r], nest, strips, {}});
    }
  }

  Status compile(CompileRecord& record) {
    std::vector<std::vector<int64_t>> skips(sources_.size());
    std::vector<Nest> nests(sources_.size());
    std::vector<size_t> by_size(sources_.size());  // the largest first, so that no thread waits for it in the end
    std::iota(by_size.begin(), by_size.end(), size_t{0});
    std::ranges::stable_sort(by_size, std::greater(), [&](size_t s) { return sources_[s].region->ops.size(); });
    context_.pool().run(std::ssize(sources_), [&](int64_t task, int) {
      const size_t s = by_size[task];
      Nest nest = *sources_[s].nest;
      if (sources_[s].strips) run_rows_one_by_one(nest);
      nests[s] = plain_nest(nest, *program_.module);
      // Strips count rows from the start of a buffer.
      if (!sources_[s].strips) skips[s] = bytes_of(rebase(nests[s]), nests[s]);
    });
    for (size_t s = 0; s < sources_.size(); ++s) {
      const std::string why = can_compile(nests[s]);
      if (!why.empty()) return unsupported_at(*sources_[s].region->ops.back(), why);
    }
    const auto room = [&](std::span<const Nest* const> missing) { return check_room(missing); };
    LT_ASSIGN_OR_RETURN(const std::vector<Kernel> made, compile_kernels(nests, options_, &record, room));
    // Releases some 25 MiB of the compiler, if the program is so large that they may matter.
    constexpr int64_t kLarge = int64_t{16} << 20;
    if (record.distinct > record.from_cache && program_.peak_bytes() >= kLarge) rest_llvm_library();
    for (size_t s = 0; s < sources_.size(); ++s) {
      sources_[s].kernel = made[s];
      sources_[s].kernel.skips = std::move(skips[s]);
    }
    return {};
  }

  /// Compiling ends before the program runs, but doesn't release all of its memory. Measured: pages of the compiler and
  /// its heap, and memory that grows with the two nests compiled concurrently.
  Status check_room(std::span<const Nest* const> nests) const {
    constexpr int64_t kCompiler = int64_t{32} << 20, kPerNode = int64_t{32} << 10, kLeft = int64_t{12} << 20;
    constexpr int64_t kCode = int64_t{144} << 20;  // mapped; counts only towards a limit on address space
    std::vector<int64_t> sizes{0, 0};
    for (const Nest* nest : nests) sizes.push_back(std::ssize(nest->nodes));
    std::ranges::partial_sort(sizes, sizes.begin() + 2, std::greater());
    const AvailableMemory available = available_memory();
    const int64_t code = available.bound_by == "RLIMIT_AS" ? kCode : 0;
    const int64_t compiling = kCompiler + kPerNode * (sizes[0] + sizes[1]) + code;
    const int64_t running = program_.peak_bytes() + kLeft + code;
    if (std::max(compiling, running) <= available.bytes) return {};
    return {
        Fault::kLimit,
        fmt::format("compiling {} kernels takes some {}, and then the program needs {} beside {} that stay of it; {} "
                    "has {} left",
                    nests.size(), format_bytes(compiling), format_bytes(program_.peak_bytes()),
                    format_bytes(kLeft + code), available.bound_by, format_bytes(available.bytes))};
  }

  const LoweredProgram& lowered_;
  const Program& program_;
  CompileOptions options_;
  Context& context_;
  std::vector<Source> sources_;
  std::vector<int64_t> source_of_;  ///< by region; kNoId: no kernel
};

}  // namespace

Result<std::vector<Kernel>> program_kernels(const LoweredProgram& lowered, const CompileOptions& options,
                                            CompileRecord& record) {
  LT_ASSERT(lowered.nests.size() == lowered.program->regions.size(), "a lowered program has one nest for each region");
  return ProgramKernels(lowered, options).run(record);
}

}  // namespace lowtide::engine
