#include "report/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "passes/pass.h"
#include "report/arguments.h"
#include "report/boxes.h"
#include "report/by_operation.h"
#include "report/category.h"
#include "report/origin.h"
#include "report/peak_rows.h"
#include "report/phases.h"

namespace lowtide {
namespace {

constexpr int64_t kMostRewritten = 20'000;  // instructions; an explanation must come within two seconds

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// The compiler that scheduled a module, by the name XLA gives its file or by what only it writes.
std::string platform_of(const Input& input) {
  const std::string_view file = file_name(input.path);
  if (contains(file, "cpu_")) return "XLA:CPU";
  if (contains(file, "gpu_") || contains(file, "sm_")) return "XLA:GPU";
  if (contains(file, "tpu_")) return "XLA:TPU";
  for (const auto& computation : input.module->computations()) {
    for (const auto& instruction : computation->instructions()) {
      if (contains(instruction->backend_config, "operation_queue_id") ||
          contains(instruction->backend_config, "gemm_backend_config")) {
        return "XLA:GPU";
      }
      if (instruction->shape.layout && !instruction->shape.layout->tiles.empty()) return "XLA:TPU";
      if (contains(instruction->backend_config, "outer_dimension_partitions")) return "XLA:CPU";
    }
  }
  return "";
}

bool has_metadata(const Module& module) {
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      if (!instruction->metadata.op_name.empty()) return true;
    }
  }
  return false;
}

Sizes sizes_of(const Account& account) {
  return {account.argument_bytes, account.output_bytes, account.alias_bytes,
          account.temp_bytes,     account.load_bytes,   account.peak_bytes()};
}

// Steps that compute or move something: renamings, control flow and what stands ready are none.
int64_t kernels_of(const Account& account) {
  return std::count_if(account.timeline.begin(), account.timeline.end(), [](const TimelineStep& step) {
    if (step.instruction == nullptr) return false;
    switch (step.instruction->opcode) {
      case Opcode::kParameter:
      case Opcode::kConstant:
      case Opcode::kTuple:
      case Opcode::kGetTupleElement: return false;
      default: break;
    }
    const MemoryClass kind = memory_class(step.instruction->opcode);
    return kind != MemoryClass::kView && kind != MemoryClass::kControl;
  });
}

LowerBound lower_bound_of(const Floor& floor) {
  return {floor.bytes, floor.reason, floor.instruction != nullptr ? floor.instruction->name : ""};
}

/// A way to run the program that needs less than it needs as given.
struct Candidate {
  std::string how;                 ///< "in our order"; empty: as given is best
  std::unique_ptr<Module> module;  ///< the rewritten program; null where it is the given one
  Account account;
};

// Never worse than what came in: another order, and the free rewrites, count only where they need less.
Candidate best_of(const Module& module, const Account& given) {
  Candidate best;
  int64_t least = given.peak_bytes();
  if (module.is_scheduled) {
    Account account = account_for(module, AccountMode::kUnscheduled);
    if (account.peak_bytes() < least) {
      least = account.peak_bytes();
      best = {"in our order", nullptr, std::move(account)};
    }
  }
  if (module.instruction_count() > kMostRewritten) return best;
  std::unique_ptr<Module> rewritten = module.clone();
  if (!run_passes(*rewritten, pipeline()).ok()) return best;
  Account account = account_for(*rewritten, AccountMode::kUnscheduled);
  if (account.peak_bytes() < least) best = {"after free rewrites", std::move(rewritten), std::move(account)};
  return best;
}

Curve curve_of(const Account& account) {
  Curve curve;
  curve.base = account.argument_bytes + account.output_bytes - account.alias_bytes;
  curve.bytes.reserve(account.live.size());
  for (const int64_t live : account.live) curve.bytes.push_back(curve.base + live);
  curve.peak_step = account.peak_step;
  curve.phases = phases_of(account);
  return curve;
}

std::string shell_word(const std::string& text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) || std::string_view("/._-+=:,@").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain && !text.empty()) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

Report build_report(const Input& input, bool with_boxes) {
  const auto start = std::chrono::steady_clock::now();
  const Module& module = *input.module;
  Report report;
  report.module = module.name;
  report.instructions = module.instruction_count();
  report.path = input.path;
  report.platform = platform_of(input);
  report.scheduled = module.is_scheduled;
  report.devices = module.num_partitions.value_or(1);
  report.has_metadata = has_metadata(module);
  report.others = input.others;
  report.warnings = input.warnings;

  const Account given = account_for(module, AccountMode::kAsGiven);
  const Candidate best = best_of(module, given);
  const Account& ours = best.how.empty() ? given : best.account;
  const Module& our_module = best.module ? *best.module : module;
  report.given = sizes_of(given);
  report.ours = sizes_of(ours);
  report.ours_how = best.how;
  report.kernels = kernels_of(ours);
  report.other_spaces = given.other_spaces;
  report.padding = given.padding_bytes;
  report.warnings.insert(report.warnings.end(), given.warnings.begin(), given.warnings.end());
  report.floor_order = lower_bound_of(floor_order(our_module));
  report.floor_any = lower_bound_of(floor_any(our_module));
  const auto planned = std::chrono::steady_clock::now();
  report.plan_seconds = std::chrono::duration<double>(planned - start).count();

  const Graph graph(module);
  const Categories categories(graph);
  report.arguments = argument_rows(graph, given, categories);
  report.argument_groups = argument_groups(report.arguments);
  report.input_peak_place = peak_place(given);
  report.peak_place = peak_place(ours);
  if (input.report) {
    report.xla_peak = input.report->total_bytes;
    report.input_at_peak = allocation_rows(graph, given, categories, *input.report);
  }
  if (report.input_at_peak.empty()) report.input_at_peak = peak_rows(graph, given, categories, report.arguments);
  if (best.module) {
    const Graph our_graph(our_module);
    report.at_peak = peak_rows(our_graph, ours, Categories(our_graph), report.arguments);
  } else if (!best.how.empty() || (!report.input_at_peak.empty() && report.input_at_peak.front().allocation >= 0)) {
    report.at_peak = peak_rows(graph, ours, categories, report.arguments);
  } else {
    report.at_peak = report.input_at_peak;
  }
  report.by_operation = operation_rows(graph, given);
  report.curve = curve_of(given);
  if (with_boxes) report.boxes = boxes_of(graph, given, categories);
  const std::string file = shell_word(input.path);
  report.next = {fmt::format("lowtide explain {} --top 0", file),
                 fmt::format("lowtide explain {} --html page.html", file)};
  return report;
}

}  // namespace lowtide
