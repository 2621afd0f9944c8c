#include "report/build.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/partitioning.h"
#include "report/arguments.h"
#include "report/boxes.h"
#include "report/by_operation.h"
#include "report/category.h"
#include "report/origin.h"
#include "report/peak_rows.h"
#include "report/phases.h"

namespace lowtide::engine {
namespace {

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// The compiler that scheduled a module, by the name that XLA gives its file, or by text that only it writes.
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

Curve curve_of(const Account& account) {
  Curve curve;
  curve.base = account.argument_bytes + account.output_bytes - account.alias_bytes;
  curve.bytes.reserve(account.live.size());
  for (const int64_t live : account.live) curve.bytes.push_back(curve.base + live);
  curve.peak_step = account.peak_step;
  curve.phases = phases_of(account);
  return curve;
}

}  // namespace

std::string shell_word(const std::string& text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) || std::string_view("/._-+=:,@").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain && !text.empty()) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

Sizes sizes_of(const Account& account) {
  const auto host = account.other_spaces.find(kHostMemory);
  return {account.argument_bytes,
          account.output_bytes,
          account.alias_bytes,
          account.temp_bytes,
          account.load_bytes,
          account.peak_bytes(),
          host == account.other_spaces.end() ? 0 : host->second};
}

LowerBound lower_bound_of(const Floor& floor) {
  return {floor.bytes, floor.reason, floor.instruction != nullptr ? floor.instruction->name : ""};
}

Report build_report(const Input& input, const FreePlan& plan, bool with_boxes) {
  const Module& module = *input.module;
  Report report;
  report.module = module.name;
  report.instructions = module.instruction_count();
  report.path = input.path;
  report.platform = platform_of(input);
  report.scheduled = module.is_scheduled;
  std::vector<std::string> ignored;
  const Partitioning partitioning = find_partitioning(module, ignored);
  report.devices = partitioning.devices();
  report.before_partitioning = partitioning.divides();
  report.has_metadata = has_metadata(module);
  report.others = input.others;
  report.warnings = input.warnings;

  const Account given = account_for(module, AccountMode::kAsGiven);
  const Account& ours = plan.account;
  report.given = sizes_of(given);
  report.ours = sizes_of(ours);
  report.kernels = plan.kernels;
  report.plan_seconds = plan.seconds;
  report.other_spaces = given.other_spaces;
  report.padding = given.padding_bytes;
  report.warnings.insert(report.warnings.end(), given.warnings.begin(), given.warnings.end());
  report.floor_order = lower_bound_of(floor_order(module));
  report.floor_any = lower_bound_of(floor_any(module));

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
  const Graph our_graph(*plan.module);
  report.at_peak = peak_rows(our_graph, ours, Categories(our_graph), report.arguments);
  report.by_operation = operation_rows(graph, given);
  report.curve = curve_of(given);
  if (with_boxes) report.boxes = boxes_of(graph, given, categories);
  const std::string file = shell_word(input.path);
  report.next = {fmt::format("lowtide explain {} --top 0", file),
                 fmt::format("lowtide explain {} --html page.html", file)};
  return report;
}

}  // namespace lowtide::engine
