#include <fmt/format.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/debug.h"
#include "base/files.h"
#include "base/progress.h"
#include "codegen/kernel.h"
#include "codegen/kernel_cache.h"
#include "codegen/kernel_plan.h"
#include "codegen/llvm_library.h"
#include "codegen/machine.h"
#include "codegen/object_loader.h"
#include "nest/legalise.h"

namespace lowtide {
namespace {

/// A sweep reads the whole directory: one new object in so many is followed by one.
constexpr uint64_t kObjectsPerSweep = 64;

/// A kernel to be found or made; nests with equal texts share one.
struct Job {
  const Nest* nest = nullptr;
  KernelPlan plan;
  std::string object;
  Status status;
  Kernel kernel;
};

// Kernels of this process. What is dropped here lives on in the executables that use it.
class Loaded {
 public:
  std::optional<Kernel> find(TextHash key) {
    const std::lock_guard lock(mutex_);
    const auto found = kernels_.find(key);
    return found == kernels_.end() ? std::nullopt : std::optional(found->second);
  }
  void store(TextHash key, const Kernel& kernel, size_t bytes) {
    const std::lock_guard lock(mutex_);
    constexpr size_t kMostBytes = size_t{64} << 20;
    if (bytes_ + bytes > kMostBytes) kernels_.clear(), bytes_ = 0;
    kernels_.emplace(key, kernel);
    bytes_ += bytes;
  }

 private:
  std::mutex mutex_;
  std::map<TextHash, Kernel> kernels_;
  size_t bytes_ = 0;
};

Loaded& loaded() {
  static Loaded kernels;
  return kernels;
}

Result<Kernel> load(TextHash key, std::string_view object, std::span<const KernelPiece> pieces) {
  LT_ASSIGN_OR_RETURN(const LoadedObject code, load_object(object, kKernelSymbol));
  const auto run = std::bit_cast<KernelFunction>(code.symbol);
  return Kernel{.run = run, .pieces = {pieces.begin(), pieces.end()}, .code = code.pages, .skips = {}, .key = key};
}

std::vector<KernelPiece> pieces_of(const KernelPlan& plan) {
  std::vector<KernelPiece> pieces;
  for (const PiecePlan& piece : plan.pieces) pieces.push_back(piece.figures);
  return pieces;
}

std::string plan_text(const KernelPlan& plan) {
  std::string text;
  for (size_t i = 0; i < plan.lanes.size(); ++i)
    text += fmt::format(" {}{}", plan.lanes[i], plan.masked[i] ? "m" : plan.tiled[i] ? "t" : "");
  for (const PiecePlan& piece : plan.pieces) {
    const KernelPiece& p = piece.figures;
    text += fmt::format(" {}/{}/{}/{}/{}", piece.loop, piece.items.size(), p.extent, p.granule, p.sequential);
  }
  return text;
}

void dump(const Nest& nest, TextHash key, const LlvmAnswer& answer) {
  const std::string path = fmt::format("{}/kernel-{:016x}", knobs().dump_directory, key.low);
  const bool written = write_file(path + ".nest", to_text(nest)).ok() && write_file(path + ".ll", answer.text).ok() &&
                       write_file(path + ".o", answer.object).ok();
  if (!written) debug_print(fmt::format("can't write {}", path));
}

void compile(Job& job, TextHash key, LlvmCompile compiler, bool avx512) {
  LlvmAnswer answer;
  compiler({job.nest, &job.plan, avx512, !knobs().dump_directory.empty()}, answer);
  if (!knobs().dump_directory.empty()) dump(*job.nest, key, answer);
  if (!answer.fault.empty()) {
    job.status = {Fault::kInternal, fmt::format("a kernel can't be compiled: {}", answer.fault)};
    return;
  }
  job.object = std::move(answer.object);
}

// Two at a time: more gain little, and each needs memory of its own.
void compile_side_by_side(std::span<std::pair<const TextHash, Job>* const> jobs, LlvmCompile compiler, bool avx512) {
  Stage stage("compiling kernels", static_cast<double>(jobs.size()));
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < jobs.size(); i = next++) {
      compile(jobs[i]->second, jobs[i]->first, compiler, avx512);
      stage.add(1);
    }
  };
  std::thread other;
  try {
    if (jobs.size() > 1) other = std::thread(work);
  } catch (const std::system_error&) {  // no thread is left: one does the work
  }
  work();
  if (other.joinable()) other.join();
}

}  // namespace

std::string can_compile(const Nest& nest) { return check_plain(nest); }

Result<std::string> kernel_target(const CompileOptions& options) {
  LT_ASSIGN_OR_RETURN(const Isa isa, resolve_isa(options.isa));
  return machine_name(isa) + "\n" + llvm_library_version() + "\n";
}

std::optional<Kernel> find_kernel(TextHash key, std::span<const KernelPiece> pieces, const KernelCache& cache) {
  if (auto kernel = loaded().find(key)) return kernel;
  const auto object = cache.find(key);
  if (!object) return {};
  auto kernel = load(key, *object, pieces);
  if (!kernel.ok()) return {};
  loaded().store(key, *kernel, object->size());
  return kernel.take();
}

Result<std::vector<Kernel>> compile_kernels(std::span<const Nest> nests, const CompileOptions& options,
                                            CompileRecord* record, const BeforeCompiling& before) {
  const auto start = std::chrono::steady_clock::now();
  LT_ASSIGN_OR_RETURN(const Isa isa, resolve_isa(options.isa));
  const bool avx512 = isa == Isa::kAvx512;
  LT_ASSIGN_OR_RETURN(const std::string target, kernel_target(options));
  const KernelCache cache(options.use_cache ? kernel_cache_directory() : "");
  std::map<TextHash, Job> jobs;
  std::vector<Job*> job_of;
  std::vector<std::pair<const TextHash, Job>*> missing;
  int64_t from_cache = 0;
  for (const Nest& nest : nests) {
    KernelPlan plan = plan_kernel(nest, avx512);
    const TextHash key = hash_text(target + plan_text(plan) + "\n" + to_text(nest));
    const auto [entry, is_new] = jobs.try_emplace(key);
    job_of.push_back(&entry->second);
    if (!is_new) continue;
    Job& job = entry->second;
    job.nest = &nest;
    job.plan = std::move(plan);
    if (auto kernel = options.use_cache ? find_kernel(key, pieces_of(job.plan), cache) : std::nullopt) {
      job.kernel = std::move(*kernel);
      ++from_cache;
    } else {
      missing.push_back(&*entry);
    }
  }
  if (!missing.empty()) {
    std::vector<const Nest*> compiled;
    for (const auto* entry : missing) compiled.push_back(entry->second.nest);
    if (before) LT_RETURN_IF_ERROR(before(compiled));
    LT_ASSIGN_OR_RETURN(const LlvmCompile compiler, load_llvm_library());
    compile_side_by_side(missing, compiler, avx512);
    bool is_due = false;
    for (auto* entry : missing) {
      Job& job = entry->second;
      LT_RETURN_IF_ERROR(job.status);
      LT_ASSIGN_OR_RETURN(job.kernel, load(entry->first, job.object, pieces_of(job.plan)));
      if (!options.use_cache) continue;
      loaded().store(entry->first, job.kernel, job.object.size());
      cache.store(entry->first, job.object);
      is_due = is_due || entry->first.low % kObjectsPerSweep == 0;
    }
    if (is_due) cache.drop_oldest();
  }
  std::vector<Kernel> kernels;
  for (const Job* job : job_of) kernels.push_back(job->kernel);
  if (record) {
    record->kernels += static_cast<int64_t>(nests.size());
    record->distinct += static_cast<int64_t>(jobs.size());
    record->from_cache += from_cache;
    record->seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  return kernels;
}

}  // namespace lowtide
