#include "passes/pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "analysis/account.h"
#include "base/files.h"
#include "base/sizes.h"
#include "ops/verify.h"
#include "passes/compare_runs.h"
#include "passes/execute/spell_precisions.h"
#include "text/hlo.h"

namespace lowtide::engine {
namespace {

const Pass kSpellPrecisions = {"spell-precisions", spell_precisions, Numerics::kExact,
                               "before all others, which put operands in the place of results"};

constexpr uint64_t kCheckSeed = 1;
/// Larger modules are verified once, after all passes, unless LOWTIDE_CHECK is set: verifying each took half the time.
constexpr int64_t kVerifiedAlways = 5000;  // instructions

/// LOWTIDE_DUMP: writes the module after a stage to a file that can be read as input.
Status dump(const Module& module, size_t number, std::string_view stage) {
  const std::string& directory = module.context().settings().dump_directory;
  if (directory.empty()) return {};
  return write_file(fmt::format("{}/{:02}-{}.hlo", directory, number, stage), print_hlo(module),
                    &module.context().own<OpenFiles>());
}

constexpr int64_t kPackWork = 100'000;  // limits packing: the table has many peaks

constexpr int64_t kLargestChecked = int64_t{1} << 30;  ///< of a value; larger ones take too long to run for a check

bool has_larger_value(const Module& module, int64_t bytes) {
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      if (logical_bytes(i->shape) > bytes) return true;
    }
  }
  return false;
}

/// LOWTIDE_CHECK: checks that the pass kept the module's results. A module that can't be run isn't compared.
Status check_results(const Module& before, const Module& after, const Pass& pass) {
  const Context& context = after.context();
  if (has_larger_value(before, kLargestChecked)) {
    context.print(fmt::format("{}: not compared: a value is larger than {}", pass.name, format_bytes(kLargestChecked)));
    return {};
  }
  const auto difference = difference_of_runs(before, after, pass.numerics, kCheckSeed);
  if (!difference.ok()) {
    context.print(fmt::format("{}: not compared: {}", pass.name, difference.status().message()));
    return {};
  }
  if (difference->empty()) return {};
  return {Fault::kInternal, fmt::format("pass {} changed what the module computes: {}", pass.name, *difference)};
}

int64_t peak_of(const Module& module) { return account_for(module, AccountMode::kAsGiven, kPackWork).peak_bytes(); }

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// peak: of the module before and then after the pass, if it is known.
Status run_pass(Module& module, const Pass& pass, const Target& target, const PassOptions& options,
                std::optional<int64_t>& peak, PassRecord& record) {
  const Context& context = module.context();
  record.name = pass.name;
  const bool checked = context.settings().choices.check;
  const bool shown = !options.quiet && context.shows(DebugLevel::kPasses, pass.name);
  const bool has_peaks = shown || options.record_peaks;
  if (has_peaks && !peak) peak = peak_of(module);
  if (has_peaks) record.peak_before = *peak;
  const auto before = checked ? module.clone() : nullptr;

  const auto start = std::chrono::steady_clock::now();
  LT_ASSIGN_OR_RETURN(record.result, pass.run(module, target));
  record.milliseconds = milliseconds_since(start);

  if (record.result.changed) {
    const bool verified = !options.trusted && module.instruction_count() <= kVerifiedAlways;
    if (Status fault = verified || checked ? verify(module) : Status(); !fault.ok()) {
      return {Fault::kInternal,
              fmt::format("pass {} left a module that is not well-formed: {}", pass.name, fault.message())};
    }
    if (before) LT_RETURN_IF_ERROR(check_results(*before, module, pass));
  }
  if (record.result.changed) peak.reset();
  if (has_peaks && !peak) peak = peak_of(module);
  if (has_peaks) record.peak_after = *peak;
  if (!shown) return {};
  context.print(fmt::format("{:<28} {:8.2f} ms {:>7} rewrites  peak {} -> {}  {}", pass.name, record.milliseconds,
                            record.result.count, format_bytes(record.peak_before), format_bytes(record.peak_after),
                            record.result.note));
  if (record.result.changed && context.shows(DebugLevel::kModules, pass.name)) context.print(print_hlo(module));
  return {};
}

/// The passes that found nothing since the last change: they would find nothing again.
class FoundNothing {
 public:
  bool has(const Pass& pass) const {
    return std::ranges::any_of(passes_, [&](const Pass* p) { return p->run.is_same(pass.run); });
  }
  void add(const Pass& pass, const PassResult& result) {
    if (result.changed) {
      passes_.clear();
    } else {
      passes_.push_back(&pass);
    }
  }

 private:
  std::vector<const Pass*> passes_;
};

}  // namespace

const char* numerics_name(Numerics numerics) {
  switch (numerics) {
    case Numerics::kExact: return "exact";
    case Numerics::kValueExact: return "value-exact";
    case Numerics::kReassociated: return "reassociated";
    case Numerics::kOptIn: return "opt-in";
  }
  return "";
}

PassResult rewritten(int64_t count, std::string_view done) {
  PassResult result;
  result.changed = count > 0;
  result.count = count;
  if (result.changed) result.note = fmt::format("{} {}", count, done);
  return result;
}

Numerics numerics_of(const Pass& pass, const Module& module) {
  return module.sums_in_order && pass.numerics == Numerics::kReassociated ? pass.in_order : pass.numerics;
}

const std::vector<Pass>& pipeline_of(const Target& target) {
  return target.takes() == Takes::kProgram ? execution_pipeline() : pipeline_for_xla();
}

const Pass* find_pass(std::string_view name) {
  if (name == kSpellPrecisions.name) return &kSpellPrecisions;
  for (const std::vector<Pass>* all : {&execution_pipeline(), &decided_passes(), &pipeline_for_xla()}) {
    for (const Pass& pass : *all) {
      if (pass.name == name) return &pass;
    }
  }
  return nullptr;
}

Result<std::vector<PassRecord>> run_passes(Module& module, const std::vector<Pass>& passes, const Target& target,
                                           const PassOptions& options) {
  Context& context = module.context();
  const bool summary = !options.quiet && context.shows(DebugLevel::kSummary);
  const int64_t peak_before = summary ? peak_of(module) : 0;
  const int64_t instructions_before = module.instruction_count();
  const auto start = std::chrono::steady_clock::now();

  FoundNothing found_nothing;
  std::vector<PassRecord> records;
  records.reserve(passes.size() + 1);
  std::optional<int64_t> peak;
  if (!options.quiet) LT_RETURN_IF_ERROR(dump(module, 0, "input"));
  if (!passes.empty()) {
    LT_RETURN_IF_ERROR(run_pass(module, kSpellPrecisions, target, options, peak, records.emplace_back()));
    if (!records.back().result.changed) records.pop_back();
  }
  OutermostStage stage(context.progress(), "rewriting", static_cast<double>(passes.size()));
  for (size_t i = 0; i < passes.size(); ++i) {
    if (context.should_stop()) return interrupted();
    stage.add(1);
    if (context.is_disabled(passes[i].name)) continue;
    if (module.sums_in_order && numerics_of(passes[i], module) == Numerics::kReassociated) continue;
    if (found_nothing.has(passes[i])) continue;
    PassRecord& record = records.emplace_back();
    LT_RETURN_IF_ERROR(run_pass(module, passes[i], target, options, peak, record));
    found_nothing.add(passes[i], record.result);
    if (record.result.changed && !options.quiet) LT_RETURN_IF_ERROR(dump(module, i + 1, record.name));
  }
  const bool is_late = options.trusted || module.instruction_count() > kVerifiedAlways;
  if (Status fault = is_late ? verify(module) : Status(); !fault.ok()) {
    return Status(
        Fault::kInternal,
        fmt::format("a pass left a module that is not well-formed (LOWTIDE_CHECK=1 says which): {}", fault.message()));
  }
  const double milliseconds = milliseconds_since(start);
  if (summary) {
    context.print(fmt::format("peak {} -> {}, {} -> {} instructions, {:.0f} ms", format_bytes(peak_before),
                              format_bytes(peak_of(module)), instructions_before, module.instruction_count(),
                              milliseconds));
  }
  return records;
}

}  // namespace lowtide::engine
