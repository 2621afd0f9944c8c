#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <map>
#include <new>
#include <system_error>
#include <thread>

#include "base/clock.h"
#include "base/context.h"
#include "base/files.h"
#include "base/memory.h"
#include "codegen/kernel.h"
#include "codegen/kernel_plan.h"
#include "codegen/kernel_store.h"
#include "codegen/llvm_library.h"
#include "codegen/machine.h"
#include "codegen/shape_free.h"
#include "nest/legalise.h"

namespace lowtide::engine {
namespace {

/// A kernel to be found or compiled; nests with equal texts share one.
struct Job {
  const Nest* nest = nullptr;
  std::optional<Nest> own;  ///< the nest, if it was derived from the caller's
  KernelPlan plan;
  std::string object;
  Status status;
  Kernel kernel;
};

std::vector<KernelPiece> pieces_of(const KernelPlan& plan) {
  std::vector<KernelPiece> pieces;
  for (const PiecePlan& piece : plan.pieces) pieces.push_back(piece.figures);
  return pieces;
}

std::string plan_text(const KernelPlan& plan, bool of_any_shape) {
  std::string text;
  for (size_t i = 0; i < plan.lanes.size(); ++i) {
    text += fmt::format(" {}{}", plan.lanes[i], plan.masked[i] ? "m" : plan.tiled[i] ? "t" : "");
    if (plan.after[i] != 0) text += fmt::format("a{}", plan.after[i]);
  }
  for (const PiecePlan& piece : plan.pieces) {
    const KernelPiece& p = piece.figures;
    const int64_t extent = of_any_shape ? 0 : p.extent;
    text += fmt::format(" {}/{}/{}/{}/{}", piece.loop, piece.items.size(), extent, p.granule, p.sequential);
  }
  return text;
}

void dump(const Context& context, const Nest& nest, TextHash key, const LlvmAnswer& answer) {
  const std::string path = fmt::format("{}/kernel-{:016x}", context.settings().dump_directory, key.low);
  OpenFiles* const files = &context.own<OpenFiles>();
  const bool written = write_file(path + ".nest", to_text(nest), files).ok() &&
                       write_file(path + ".ll", answer.text, files).ok() &&
                       write_file(path + ".o", answer.object, files).ok();
  if (!written) context.print(fmt::format("can't write {}", path));
}

/// Compiles the kernels that are in no cache.
class Compilation {
 public:
  using Missing = std::pair<const TextHash, Job>;
  Compilation(Context& context, LlvmCompile compiler, bool avx512)
      : context_(context), compiler_(compiler), avx512_(avx512) {}

  // On two threads: more gain little, and each needs its own memory.
  void run(std::span<Missing* const> jobs) {
    Stage stage(context_.progress(), "compiling kernels", static_cast<double>(jobs.size()));
    std::atomic<size_t> next{0};
    const auto work = [&] {
      for (size_t i = next++; i < jobs.size(); i = next++) {
        compile(jobs[i]->second, jobs[i]->first);
        stage.add(1);
      }
    };
    std::thread other;
    try {
      if (jobs.size() > 1) other = std::thread(work);
    } catch (const std::system_error&) {
      other = {};  // no thread is available: this one does all the work
    }
    work();
    if (other.joinable()) other.join();
  }

 private:
  void compile(Job& job, TextHash key) {
    const bool dumped = !context_.settings().dump_directory.empty();
    LlvmAnswer answer;
    try {
      compiler_({job.nest, &job.plan, avx512_, dumped}, answer);
    } catch (const std::bad_alloc&) {  // no exception may leave a separate thread
      job.status = out_of_memory();
      return;
    } catch (const std::exception& e) {
      answer.fault = e.what();
    }
    if (dumped) dump(context_, *job.nest, key, answer);
    if (!answer.fault.empty()) {
      job.status = {Fault::kInternal, fmt::format("a kernel can't be compiled: {}", answer.fault)};
      return;
    }
    job.object = std::move(answer.object);
  }

  Context& context_;
  const LlvmCompile compiler_;
  const bool avx512_;
};

Result<Isa> isa_of(const CompileOptions& options) {
  return resolve_isa(options.isa, options.context ? options.context->settings().choices.isa : "");
}

}  // namespace

std::string can_compile(const Nest& nest) { return check_plain(nest); }

Result<std::string> kernel_target(const CompileOptions& options) {
  LT_ASSIGN_OR_RETURN(const Isa isa, isa_of(options));
  return machine_name(isa) + "\n" + llvm_library_version() + "\n";
}

Result<std::vector<Kernel>> compile_kernels(std::span<const Nest> nests, const CompileOptions& options,
                                            CompileRecord* record, const BeforeCompiling& before) {
  const auto start = std::chrono::steady_clock::now();
  LT_ASSIGN_OR_RETURN(const Isa isa, isa_of(options));
  const bool avx512 = isa == Isa::kAvx512;
  LT_ASSIGN_OR_RETURN(const std::string target, kernel_target(options));
  std::optional<Context> nobodys;
  Context& context = options.context ? *options.context : nobodys.emplace();
  KernelStore* const store = options.use_cache && options.context ? &context.own<KernelStore>() : nullptr;
  const bool any_shape = options.any_shape || context.settings().any_shape;
  std::map<TextHash, Job> jobs;
  /// The parts that differ between nests that share a kernel.
  struct Use {
    Job* job = nullptr;
    std::vector<KernelPiece> pieces;
    std::vector<int64_t> given;
  };
  std::vector<Use> uses;
  std::vector<std::pair<const TextHash, Job>*> missing;
  int64_t from_cache = 0;
  const auto key_of = [&](const Nest& nest, const KernelPlan& plan, bool of_any_shape) {
    return hash_text(target + plan_text(plan, of_any_shape) + "\n" + to_text(nest));
  };
  const auto find = [&](TextHash key) { return store ? store->find(key) : std::nullopt; };
  for (const Nest& nest : nests) {
    KernelPlan plan = plan_kernel(nest, avx512);
    std::optional<Kernel> known;
    const auto is_known = [&](TextHash key) { return jobs.contains(key) || (known = find(key)).has_value(); };
    // Look for the kernel of any shape first: a new shape has no other, and printing a nest's text is slow.
    std::optional<ShapeFree> free = any_shape ? shape_free(nest, plan) : std::nullopt;
    TextHash key;
    if (free) key = key_of(free->nest, plan, true);
    if (!free || !(is_known(key) || options.any_shape)) {
      const TextHash own = key_of(nest, plan, false);
      // A kernel of any shape takes longer to compile: the first shape gets a kernel of its own.
      if (is_known(own) || !free || (store && !store->was_met(key))) {
        key = own;
        free.reset();
      }
    }
    const auto [entry, is_new] = jobs.try_emplace(key);
    Job& job = entry->second;
    uses.push_back({&job, pieces_of(plan), free ? std::move(free->given) : std::vector<int64_t>()});
    if (!is_new) continue;
    if (free) job.own = std::move(free->nest);
    job.nest = job.own ? &*job.own : &nest;
    job.plan = std::move(plan);
    if (known) {
      job.kernel = std::move(*known);
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
    // The largest first, so that both threads end at about the same time.
    const auto nodes = [](const auto* entry) { return entry->second.nest->nodes.size(); };
    std::ranges::stable_sort(missing, std::greater(), nodes);
    Compilation(context, compiler, avx512).run(missing);
    for (auto* entry : missing) {
      Job& job = entry->second;
      LT_RETURN_IF_ERROR(job.status);
      LT_ASSIGN_OR_RETURN(job.kernel, store ? store->add(entry->first, job.object, &context.own<OpenFiles>())
                                            : load_kernel(entry->first, job.object));
    }
  }
  std::vector<Kernel> kernels;
  for (Use& use : uses) {
    kernels.push_back(use.job->kernel);
    kernels.back().pieces = std::move(use.pieces);
    kernels.back().given = std::move(use.given);
  }
  if (record) {
    record->kernels += static_cast<int64_t>(nests.size());
    record->distinct += static_cast<int64_t>(jobs.size());
    record->from_cache += from_cache;
    record->seconds += seconds_since(start);
  }
  return kernels;
}

}  // namespace lowtide::engine
