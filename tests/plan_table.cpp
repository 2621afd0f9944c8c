// What planning decides, a line per plan, so that two builds can be compared (bench/plans.py): the free plan, the
// tightest, and those for XLA, each with peak, modelled nanoseconds, kernels, and a hash of decisions, module and
// program. --text prints what is hashed.
//   plan_table [--text] FILE...
#include <fmt/format.h>

#include <cstring>

#include "base/text_hash.h"
#include "compile/frontier.h"
#include "schedule/modelled_time.h"
#include "schedule/text.h"
#include "target/cpu.h"
#include "target/xla.h"
#include "text/hlo.h"
#include "text/input.h"

using namespace lowtide::engine;

namespace {

bool is_text_printed = false;

void print_row(std::string_view path, std::string_view kind, int64_t peak, double ns, int64_t kernels,
               const std::string& text) {
  const TextHash hash = hash_text(text);
  fmt::print("{} {} peak {} ns {} kernels {} plan {:016x}{:016x}\n", path, kind, peak, ns, kernels, hash.high,
             hash.low);
  if (is_text_printed) fmt::print("{}\n", text);
}

std::string text_of(const Decisions& decisions) {
  std::string text;
  for (const Decision& d : decisions) text += to_string(d) + "\n";
  return text;
}

/// Of the frontier's points what a user may be given: each of them by figures, for a change in the search shows there.
std::string text_of(const Frontier& frontier) {
  std::string text = fmt::format("plans {}\n", frontier.plans);
  for (const FrontierPoint& p : frontier.points) {
    text += fmt::format("{} {} {}\n{}", p.peak_bytes, p.temp_bytes, p.ns, text_of(p.decisions));
  }
  return text;
}

void print_plan_row(std::string_view path, std::string_view kind, const Compiled& plan, const std::string& more) {
  const Program& p = *plan.program;
  print_row(
      path, kind, p.peak_bytes(), modelled_ns(p, cpu_target().cost()), p.kernels,
      text_of(plan.decisions) + "replay\n" + text_of(plan.replay) + print_hlo(*p.module) + print_program(p) + more);
}

Status print_own(std::string_view path, const Module& module) {
  LT_ASSIGN_OR_RETURN(const Planner planner, Planner::make(module, cpu_target()));
  LT_ASSIGN_OR_RETURN(const Frontier frontier, find_frontier(planner));
  print_plan_row(path, "free", frontier.free_plan, "");
  LT_ASSIGN_OR_RETURN(const Compiled tightest, planner.plan(frontier.tightest().decisions));
  print_plan_row(path, "tight", tightest, text_of(frontier));
  return {};
}

Status print_for_xla(std::string_view path, const Module& module) {
  LT_ASSIGN_OR_RETURN(const Planner planner, Planner::make(module, xla_target()));
  LT_ASSIGN_OR_RETURN(const Frontier frontier, find_frontier(planner));
  const FrontierPoint& tightest = frontier.tightest();
  LT_ASSIGN_OR_RETURN(const auto exported, planner.exported(tightest.decisions));
  print_row(path, "xla", tightest.peak_bytes, tightest.ns, 0, print_hlo(*exported) + text_of(frontier));
  return {};
}

Status print_all(const std::string& path) {
  LT_ASSIGN_OR_RETURN(const Input input, read_input(path));
  LT_RETURN_IF_ERROR(print_own(path, *input.module));
  return input.module->is_scheduled ? Status() : print_for_xla(path, *input.module);
}

}  // namespace

int main(int argc, char** argv) {
  int failed = 0;
  for (int k = 1; k < argc; ++k) {
    if (std::strcmp(argv[k], "--text") == 0) {
      is_text_printed = true;
    } else if (const Status status = print_all(argv[k]); !status.ok()) {
      fmt::print("{} fails: {}\n", argv[k], status.message());
      ++failed;
    }
  }
  return failed != 0;
}
