#include "text/dump/dump_directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>

#include "base/near_words.h"
#include "base/sizes.h"
#include "text/dump/complete_input.h"
#include "text/dump/dump_files.h"
#include "text/file.h"
#include "text/module_bytes.h"
#include "text/proto/hlo_proto.h"
#include "text/proto/proto_report.h"

namespace lowtide::engine {
namespace {

/// One program of the directory: its stages, latest first, and the reports on it.
struct Group {
  std::vector<const DumpFile*> stages;
  std::vector<const DumpFile*> reports;
  std::string module_name;
  int64_t instructions = 0;
  int64_t text_bytes = 0;  ///< unpacked; for a protobuf an estimate of its text's size
  std::optional<int64_t> total_bytes;
};

/// Counts the lines `%x = f32[] add(...)` without parsing them.
int64_t count_instructions(std::string_view text) {
  int64_t count = 0;
  bool inside = false;  // tables of names and lines precede the first computation
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t last = line.find_last_not_of(" \t\r");
    if (last == std::string_view::npos) continue;
    if (inside && line.find(" = ") != std::string_view::npos) ++count;
    if (line[last] == '{' && line[0] != ' ') inside = true;
    if (line[0] == '}') inside = false;
  }
  return count;
}

std::string name_in_header(std::string_view text) {
  const size_t at = text.find("HloModule");
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + 9);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return std::string(text.substr(0, text.find_first_of(", \t\r\n")));
}

/// Measures the latest stage; false if that file turns out to contain no module.
bool measure(Group& group) {
  const DumpFile& file = *group.stages.front();
  const Result<std::string> bytes = read_bytes(file.path);
  if (!bytes.ok()) return false;
  if (file.proto) {
    if (!is_hlo_proto(*bytes)) return false;
    const HloProtoSummary summary = summarize_hlo_proto(*bytes);
    constexpr int64_t kTextBytesAnInstruction = 200;
    group.module_name = summary.module_name;
    group.instructions = summary.instructions;
    group.text_bytes = summary.instructions * kTextBytesAnInstruction;
    if (const auto report = report_in_proto(*bytes)) group.total_bytes = allocated_bytes(*report);
  } else {
    group.module_name = name_in_header(*bytes);
    group.instructions = count_instructions(*bytes);
    group.text_bytes = static_cast<int64_t>(bytes->size());
  }
  return true;
}

size_t common_prefix(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

/// A report whose name says neither module nor group belongs to the module whose file names share most letters with it.
Group* group_for_report(const DumpFile& report, std::vector<Group>& groups) {
  Group* best = nullptr;
  size_t longest = 0;
  bool unique = false;
  for (Group& group : groups) {
    size_t shared = 0;
    for (const DumpFile* stage : group.stages) {
      if (stage->stem == report.stem) return &group;
      shared = std::max(shared, common_prefix(stage->stem, report.stem));
    }
    if (!best || shared > longest)
      best = &group, longest = shared, unique = true;
    else if (shared == longest)
      unique = false;
  }
  return unique ? best : nullptr;
}

/// Whether a file that XLA did not name is another stage of the program in `stages`.
bool belongs(const DumpFile& file, const std::vector<const DumpFile*>& stages) {
  bool same = false;
  for (const DumpFile* stage : stages) {
    if (!stage->group.empty()) return false;
    if (stage->stem == file.stem) {
      same = true;
      continue;
    }
    if (stage->stage == file.stage) return false;  // two programs with the same name
    same |= !file.program.empty() && stage->program == file.program;
  }
  return same;
}

/// The folder is part of the key, because XLA numbers its modules anew in every folder.
std::string key_of(const DumpFile& file) { return std::filesystem::path(file.path).parent_path() / file.group; }

std::vector<Group> group_files(const std::vector<DumpFile>& files) {
  std::map<std::string, std::vector<const DumpFile*>> modules;
  for (const DumpFile& file : files) {
    if (file.report) continue;
    std::string key = key_of(file);
    if (file.group.empty()) {
      const auto known = std::ranges::find_if(modules, [&](const auto& entry) { return belongs(file, entry.second); });
      key = known != modules.end() ? known->first : file.path;
    }
    modules[key].push_back(&file);
  }
  std::vector<Group> groups;
  std::map<std::string, size_t> position;
  for (auto& [name, stages] : modules) {
    // Latest stage first; for the same stage the text before the protobuf, since errors can show places in it.
    std::ranges::sort(stages, [](const DumpFile* a, const DumpFile* b) {
      return std::tuple(-a->stage, a->proto, std::string_view(a->path)) <
             std::tuple(-b->stage, b->proto, std::string_view(b->path));
    });
    Group group{std::move(stages), {}, {}, 0, 0, std::nullopt};
    while (!group.stages.empty() && !measure(group)) group.stages.erase(group.stages.begin());
    if (group.stages.empty()) continue;
    position[name] = groups.size();
    groups.push_back(std::move(group));
  }
  for (const DumpFile& file : files) {
    if (!file.report) continue;
    const auto known = position.find(key_of(file));
    if (Group* group = known != position.end() ? &groups[known->second] : group_for_report(file, groups)) {
      group->reports.push_back(&file);
    }
  }
  return groups;
}

/// Of several reports of the same kind, selects the one on this stage, or else the last by name.
std::vector<const DumpFile*> reports_on(const Group& group) {
  std::map<ReportKind, const DumpFile*> chosen;
  for (const DumpFile* report : group.reports) {
    const DumpFile*& held = chosen[*report->report];
    if (!held || held->stem != group.stages.front()->stem) held = report;
  }
  std::vector<const DumpFile*> all;
  all.reserve(chosen.size());
  for (const auto& [kind, report] : chosen) all.push_back(report);
  return all;
}

/// The largest of at least one group, by XLA's totals; a module without a total is the largest only if its text is
/// longer.
const Group& largest(const std::vector<Group>& groups) {
  const auto better = [](const Group& a, const Group& b) {
    const bool both = a.total_bytes && b.total_bytes;
    return both ? *a.total_bytes > *b.total_bytes : a.text_bytes > b.text_bytes;
  };
  const Group* best = &groups.front();
  for (const bool reported : {true, false}) {
    for (const Group& group : groups) {
      if (group.total_bytes.has_value() != reported) continue;
      const bool first_reported = reported && !best->total_bytes;
      if (first_reported || better(group, *best)) best = &group;
    }
  }
  return *best;
}

std::string file_of(const Group& group) {
  return std::filesystem::path(group.stages.front()->path).filename().string();
}

/// Finds a group by the module's name, by the name that XLA gave its files, or by a part of either.
Result<const Group*> find_group(const std::vector<Group>& groups, const std::string& folder, const std::string& name) {
  std::vector<const Group*> found;
  const auto look = [&](const auto& matches) {
    if (!found.empty()) return;
    for (const Group& group : groups) {
      if (matches(group)) found.push_back(&group);
    }
  };
  look([&](const Group& g) { return g.module_name == name; });
  look([&](const Group& g) {
    return g.stages.front()->group == name || g.stages.front()->stem == name || file_of(g) == name;
  });
  look([&](const Group& g) {
    return g.module_name.find(name) != std::string::npos || file_of(g).find(name) != std::string::npos;
  });
  if (found.size() == 1) return found.front();
  std::vector<std::string> names;
  const std::vector<const Group*>* listed = &found;
  std::vector<const Group*> all;
  if (found.empty()) {
    for (const Group& group : groups) all.push_back(&group), names.push_back(group.module_name);
    listed = &all;
  }
  std::string fault =
      found.empty() ? fmt::format("{}: no module is called {}{}", folder, name, did_you_mean(near_words(name, names)))
                    : fmt::format("{}: {} modules are called {}", folder, found.size(), name);
  fault += found.empty() ? "\n  there are" : "; expected one of";
  constexpr size_t kMostListed = 20;
  for (size_t k = 0; k < std::min(listed->size(), kMostListed); ++k) {
    const Group& group = *(*listed)[k];
    const std::string& own = group.stages.front()->group;
    fault += fmt::format("\n  {}#{}  {} instructions", folder, own.empty() ? group.stages.front()->stem : own,
                         format_count(group.instructions));
  }
  if (listed->size() > kMostListed) fault += fmt::format("\n  and {} more", listed->size() - kMostListed);
  return Status::input(fault);
}

/// The file of the requested stage.
Result<const DumpFile*> find_stage(const Group& group, const std::string& folder, InputStage stage) {
  if (stage == InputStage::kLatest) return group.stages.front();
  for (const DumpFile* file : group.stages) {  // latest first
    if (file->before_xla()) return file;
  }
  return Status::input(fmt::format(
      "{}: of {} there is only what XLA has compiled already ({}), and it compiles none twice; expected a file "
      "*before_optimizations*, which XLA writes with XLA_FLAGS=\"--xla_dump_to={} --xla_dump_hlo_as_text\"",
      folder, group.module_name, file_of(group), folder));
}

std::string line_of(const Group& group) {
  std::string line = fmt::format("{} · {} instruction{}", group.module_name, format_count(group.instructions),
                                 group.instructions == 1 ? "" : "s");
  if (group.total_bytes) line += " · " + format_bytes(*group.total_bytes);
  return line;
}

}  // namespace

Result<Input> read_dump_directory(const std::string& path, const std::string& module, InputStage stage,
                                  const std::shared_ptr<Context>& context) {
  const std::vector<DumpFile> files = list_dump_files(path);
  std::vector<Group> groups = group_files(files);
  if (groups.empty()) {
    return Status::input(
        fmt::format("{}: no file of this directory holds an HLO module; XLA writes them with "
                    "XLA_FLAGS=\"--xla_dump_to={} --xla_dump_hlo_as_text\"",
                    path, path));
  }
  for (Group& group : groups) {
    const auto reports = reports_on(group);
    std::erase_if(group.reports,
                  [&](const DumpFile* report) { return std::ranges::find(reports, report) == reports.end(); });
    for (const DumpFile* report : reports) {
      // The buffer assignment, which can be large, is summed only if no report states the total.
      const bool usage = *report->report == ReportKind::kMemoryUsage;
      if (usage || (*report->report == ReportKind::kBufferAssignment && !group.total_bytes)) {
        if (const auto total = read_reports({report}).total_bytes) group.total_bytes = total;
      }
    }
  }
  const Group* picked = &largest(groups);
  if (!module.empty()) {
    LT_ASSIGN_OR_RETURN(picked, find_group(groups, path, module));
  }
  const Group& chosen = *picked;
  LT_ASSIGN_OR_RETURN(const DumpFile* const the_file, find_stage(chosen, path, stage));
  const DumpFile& file = *the_file;
  Input input;
  input.path = file.path;
  input.stage = file.stage_name;
  LT_ASSIGN_OR_RETURN(std::string bytes, read_bytes(file.path));
  LT_ASSIGN_OR_RETURN(input.module, parse_module(std::move(bytes), file.path, {}, context));
  std::vector<const DumpFile*> protos;
  for (const DumpFile* stage : chosen.stages) {
    if (stage->proto && stage->stem == file.stem) protos.push_back(stage);
  }
  const bool is_latest = the_file == chosen.stages.front();  // reports are about the latest stage
  complete_input(is_latest ? chosen.reports : std::vector<const DumpFile*>(), protos, input);

  std::vector<const Group*> others;
  for (const Group& group : groups) {
    if (&group != &chosen) others.push_back(&group);
  }
  const auto rank = [](const Group* group) {  // groups without a total come last
    return std::tuple(group->total_bytes, group->text_bytes);
  };
  std::ranges::sort(others, [&](const Group* a, const Group* b) {
    return rank(a) != rank(b) ? rank(a) > rank(b) : a->stages.front()->path < b->stages.front()->path;
  });
  std::map<std::string, int> named;
  for (const Group& group : groups) ++named[group.module_name];
  for (const Group* group : others) {
    input.others.push_back(line_of(*group));
    if (named[group->module_name] < 2) continue;  // file names distinguish modules with the same name
    input.others.back() += " · " + file_of(*group);
  }
  return input;
}

}  // namespace lowtide::engine
