#include "text/dump/complete_input.h"

#include <fmt/format.h>

#include <filesystem>
#include <unordered_map>
#include <unordered_set>

#include "text/file.h"
#include "text/proto/hlo_proto.h"
#include "text/proto/proto_report.h"

namespace lowtide::engine {
namespace {

namespace fs = std::filesystem;

constexpr size_t kHeadBytes = 4096;

/// Keeps a report only if its rows match this module, since directories may mix runs and stages.
void attach(XlaReport report, Input& input) {
  if (report.files.empty()) return;
  std::unordered_set<std::string_view> names;
  for (const auto& computation : input.module->computations()) {
    for (const auto& instruction : computation->instructions()) names.insert(instruction->name);
  }
  size_t rows = 0, strange = 0;
  const auto count = [&](const std::string& name) { ++rows, strange += !names.contains(name); };
  for (const auto& allocation : report.allocations) {
    for (const auto& value : allocation.values) count(value.name);
  }
  for (const auto& range : report.live_ranges) count(range.name);
  if (strange * 2 > rows) {
    input.warnings.push_back(fmt::format(
        "{}: {} of {} values that XLA's reports name are not in this module; the reports' rows are left out",
        input.path, strange, rows));
    report.allocations.clear();
    report.sequence.clear();
    report.live_ranges.clear();
    report.peak_position.reset();
  }
  input.report = std::move(report);
}

/// Takes the elements of long constants, which texts abbreviate, from the protobuf of the same stage.
void fill_constants(const Module& complete, Module& module) {
  for (const auto& computation : module.computations()) {
    const Computation* same = complete.find_computation(computation->name);
    if (!same) continue;
    std::unordered_map<std::string_view, const Instruction*> constants;
    for (const auto& instruction : same->instructions()) {
      if (instruction->opcode == Opcode::kConstant) constants.emplace(instruction->name, instruction.get());
    }
    for (const auto& instruction : computation->instructions()) {
      const auto* attributes = instruction->if_as<ConstantAttributes>();
      if (!attributes || !attributes->value || attributes->value->known()) continue;
      const auto found = constants.find(instruction->name);
      if (found == constants.end() || !same_shape(found->second->shape, instruction->shape)) continue;
      instruction->attributes = found->second->attributes;
    }
  }
}

bool has_unknown_constants(const Module& module) {
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      const auto* attributes = instruction->if_as<ConstantAttributes>();
      if (attributes && attributes->value && !attributes->value->known()) return true;
    }
  }
  return false;
}

/// Adds the data that only the protobuf of this stage has: elements of long constants, and XLA's report if its text
/// files are missing.
void complete_from_proto(const std::string& path, XlaReport& report, Input& input) {
  const bool abbreviated = path != input.path && has_unknown_constants(*input.module);
  if (!abbreviated && !report.allocations.empty()) return;
  const Result<std::string> bytes = read_bytes(path);
  if (!bytes.ok()) return;
  if (report.allocations.empty()) {
    if (auto in_proto = report_in_proto(*bytes)) {
      report.allocations = std::move(in_proto->allocations);
      report.files.push_back(std::filesystem::path(path).filename().string());
      if (!report.total_bytes) report.total_bytes = allocated_bytes(report);
    }
  }
  if (!abbreviated) return;
  const auto complete = parse_hlo_proto(*bytes, path);
  if (complete.ok()) fill_constants(**complete, *input.module);
}

}  // namespace

XlaReport read_reports(const std::vector<const DumpFile*>& files) {
  XlaReport report;
  for (const DumpFile* file : files) {
    const Result<std::string> text = read_bytes(file->path);
    if (!text.ok()) continue;
    read_report(*file->report, *text, report);
    report.files.push_back(std::filesystem::path(file->path).filename().string());
  }
  if (!report.total_bytes) report.total_bytes = allocated_bytes(report);
  return report;
}

void complete_input(const std::vector<const DumpFile*>& reports, const std::vector<const DumpFile*>& protos,
                    Input& input) {
  XlaReport report = read_reports(reports);
  for (const DumpFile* proto : protos) complete_from_proto(proto->path, report, input);
  attach(std::move(report), input);
}

void complete_from_folder(Input& input) {
  const fs::path path(input.path);
  const auto own = classify_dump_file(input.path, path.filename().string(), read_head(input.path, kHeadBytes));
  if (!own) return;
  input.stage = own->stage_name;
  std::vector<DumpFile> files;
  for (const std::string_view ending :
       {"-memory-usage-report.txt", "-buffer-assignment.txt", "-live-range.txt", ".hlo.pb"}) {
    for (const std::string_view packed : {"", ".gz"}) {
      const fs::path beside = path.parent_path() / fmt::format("{}{}{}", own->stem, ending, packed);
      std::error_code error;
      if (!fs::is_regular_file(beside, error)) continue;
      auto file =
          classify_dump_file(beside.string(), beside.filename().string(), read_head(beside.string(), kHeadBytes));
      if (file) files.push_back(std::move(*file));
    }
  }
  std::vector<const DumpFile*> reports, protos;
  if (own->proto) protos.push_back(&*own);
  for (const DumpFile& file : files) {
    if (file.report) reports.push_back(&file);
    if (file.proto) protos.push_back(&file);
  }
  complete_input(reports, protos, input);
}

}  // namespace lowtide::engine
