// Streams programs in every way they can be streamed, small as their values may be, and compares each in the
// interpreter, on seeded arguments, with the program as it was. A row for each program; exit 1 if any differs.
//   stream_check [--control | --exact | --exact-control] FILE...
// --control: an element of each streamed program is changed; all must be noticed. --exact: streams that leave every sum
// in its order; all bits must be the same. --exact-control: bits of those that don't; some must be noticed.
#include <fmt/format.h>

#include <string_view>

#include "passes/canonicalise/remove_dead_code.h"
#include "passes/compare_runs.h"
#include "passes/spoil.h"
#include "passes/stream/stream.h"
#include "target/cpu.h"
#include "target/xla.h"
#include "text/input.h"

using namespace lowtide::engine;
using lowtide::Numerics;

namespace {

struct Counts {
  int ways = 0, wrong = 0;
  int windows = 0;  ///< ways in which slices read others beside their own
};

struct Mode {
  bool control = false;
  bool exact = false;  ///< streams of a module with its sums in order
  bool bits = false;   ///< compared bit by bit
  const Target& target() const { return exact ? xla_target() : cpu_target(); }
};

Result<std::string> try_one(const Module& before, const std::vector<StreamDecision>& decisions, const Mode& mode) {
  std::unique_ptr<Module> after = before.clone();
  const std::vector<Pass> passes = {{"remove-dead-code", remove_dead_code, Numerics::kExact, ""}};
  // Folds that go on where the sums stand are rounded between tiles by the interpreter, whose sums are wider: those are
  // what compiled runs are for (tests/command/exact.py).
  for (const StreamDecision& decision : decisions) {
    LT_RETURN_IF_ERROR(stream(*after, mode.target(), decision).status());
    LT_RETURN_IF_ERROR(run_passes(*after, passes, mode.target()).status());
  }
  if (mode.control) {
    LT_ASSIGN_OR_RETURN(const PassResult spoilt, spoil(*after));
    if (!spoilt.changed) return std::string("no floats to spoil");
  }
  return difference_of_runs(before, *after,
                            decisions.back().windows || mode.bits ? Numerics::kExact : Numerics::kReassociated, 1);
}

Counts check(const std::string& path, const Mode& mode) {
  Counts counts;
  auto input = read_input(path);
  if (!input.ok()) {
    fmt::print("[SKIP] {}\n", input.status().message());
    return counts;
  }
  std::unique_ptr<Module> module = std::move(input->module);
  if (const auto passes = run_passes(*module, pipeline(), cpu_target()); !passes.ok()) {
    fmt::print("[SKIP] {}\n", passes.status().message());
    return counts;
  }
  module->sums_in_order = mode.exact;
  std::vector<const Instruction*> seeds;
  for (const auto& computation : module->computations()) {
    for (const auto& i : computation->instructions()) {
      if (i->shape.is_array() && i->shape.rank() > 0 && i->opcode != Opcode::kParameter) seeds.push_back(i.get());
    }
  }
  for (const StreamCandidate& candidate :
       stream_candidates(*module, mode.target(), seeds, {.least_hidden_bytes = -1e18})) {
    for (const int64_t tile : {int64_t{1}, int64_t{3}, candidate.extent - 1}) {
      if (tile < 1 || tile >= candidate.extent) continue;
      const std::vector<StreamDecision> decisions = candidate.decisions(tile);
      const StreamDecision& decision = decisions.back();
      const Result<std::string> difference = try_one(*module, decisions, mode);
      // These tiles weren't on offer: products of few rows are made otherwise than those of many.
      if (mode.exact && !difference.ok() && difference.status().fault() == Fault::kInput) continue;
      if (!difference.ok()) {
        fmt::print("  {}: {}\n", to_text(decision), difference.status().message());
        if (difference.status().fault() == Fault::kUnsupported) return counts;
      }
      ++counts.ways;
      counts.windows += decision.windows ? 1 : 0;
      if (difference.ok() && difference->empty()) continue;
      if (!mode.control && (mode.exact || !mode.bits) && difference.ok())
        fmt::print("  {}: {}\n", to_text(decision), *difference);
      ++counts.wrong;
    }
  }
  fmt::print("{:<60} {:>4} ways, {:>4} with windows, {} {}\n", path.substr(path.rfind('/') + 1), counts.ways,
             counts.windows, counts.wrong, mode.control || (mode.bits && !mode.exact) ? "noticed" : "wrong");
  return counts;
}

}  // namespace

int main(int argc, char** argv) {
  Mode mode;
  Counts all;
  for (int k = 1; k < argc; ++k) {
    const std::string_view word = argv[k];
    if (word == "--control") mode.control = true;
    if (word == "--exact") mode.exact = mode.bits = true;
    if (word == "--exact-control") mode.bits = true;
    if (word.starts_with("--")) continue;
    const Counts one = check(argv[k], mode);
    all.ways += one.ways;
    all.wrong += one.wrong;
  }
  const bool some = mode.bits && !mode.exact;
  fmt::print("{} ways, {} {}\n", all.ways, all.wrong, mode.control || some ? "noticed" : "wrong");
  if (some) return all.wrong == 0;
  return (mode.control ? all.wrong < all.ways : all.wrong > 0) || all.ways == 0;
}
