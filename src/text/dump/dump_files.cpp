#include "text/dump/dump_files.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "text/file.h"
#include "text/module_bytes.h"

namespace lowtide::engine {
namespace {

namespace fs = std::filesystem;

constexpr size_t kProgramHeadBytes = size_t{16} << 10;
constexpr int kDeepestFolder = 3;
constexpr size_t kMostFiles = 200'000;

// Stages in the order of XLA's pipeline; the numbered passes are in between.
constexpr int64_t kBeforeOptimizations = 1, kUnnamedStage = 2, kUnnamedScheduled = int64_t{1} << 40,
                  kAfterOptimizations = int64_t{1} << 41;

bool drop_ending(std::string_view& name, std::string_view ending) {
  if (name.size() <= ending.size() || !name.ends_with(ending)) return false;
  name.remove_suffix(ending.size());
  return true;
}

/// Object code, LLVM modules, graphs and the like: never worth opening.
bool is_foreign(std::string_view name) {
  drop_ending(name, ".gz");
  for (const std::string_view ending :
       {".ll",  ".o",  ".ptx", ".cubin",       ".mlir", ".html", ".dot", ".json", ".debug_options", ".s", ".bc", ".png",
        ".svg", ".py", ".md",  ".safetensors", ".npz",  ".npy",  ".so",  ".log"}) {
    if (name.ends_with(ending)) return true;
  }
  return name.starts_with(".") || name.find("compile_options") != std::string_view::npos ||
         name.ends_with("memory-usage-report.pb");
}

std::string words(std::string_view text) {
  std::string out(text);
  std::ranges::replace(out, '_', ' ');
  return out;
}

/// Derives the stage from the name: `cpu_after_optimizations`, `0013.copy-insertion.after_adding_copies`, or a user's
/// own name.
void set_stage(DumpFile& file, bool scheduled) {
  std::string_view rest = file.stem;
  const size_t known = rest.find(file.group);
  if (!file.group.empty() && known != std::string_view::npos) rest.remove_prefix(known + file.group.size());
  while (rest.starts_with(".")) rest.remove_prefix(1);
  size_t digits = 0;
  while (digits < rest.size() && digits < 9 && std::isdigit(static_cast<unsigned char>(rest[digits]))) ++digits;
  if (digits > 0 && digits < rest.size() && rest[digits] == '.' && known != std::string_view::npos) {
    file.stage = DumpFile::kFirstPass + std::stoll(std::string(rest.substr(0, digits)));
    file.stage_name = "pass " + std::string(rest);
  } else if (const size_t after = rest.find("after_optimizations"); after != std::string_view::npos) {
    // TPU and older dumps distinguish `_before_buffer_assignment` and `_after_buffer_assignment`; the name without
    // either is the latest.
    const std::string_view more = rest.substr(after + 19);
    file.stage = kAfterOptimizations + (more.empty() ? 2 : more.find("after") != std::string_view::npos ? 1 : 0);
    file.stage_name = words(rest.substr(after));
  } else if (rest.find("before_optimization") != std::string_view::npos) {
    file.stage = kBeforeOptimizations;
    file.stage_name = "before optimizations";
  } else {
    file.stage = scheduled ? kUnnamedScheduled : kUnnamedStage;
  }
}

/// The first line of the module, possibly truncated: `HloModule NAME, is_scheduled=true, ...`.
std::string_view header_line(std::string_view head) {
  const size_t at = head.find("HloModule");
  if (at == std::string_view::npos) return {};
  const std::string_view line = head.substr(at + 9);
  return line.substr(0, line.find('\n'));
}

/// Identifies a program by its name and its entry's shapes; layouts are left out, since they may differ between stages.
std::string program_of(std::string_view header) {
  header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
  std::string program(header.substr(0, header.find_first_of(", \t\r")));
  const size_t at = header.find("entry_computation_layout={");
  if (at == std::string_view::npos) return program;
  int depth = 0;
  for (const char c : header.substr(at + 25)) {
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    if (depth == 0 || program.size() > kProgramHeadBytes) break;
    if (depth == 1 && c != '}' && c != '{') program += c;
  }
  return program;
}

void list(const fs::path& folder, int depth, std::vector<DumpFile>& files, size_t& seen) {
  std::vector<fs::path> names, folders;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end && seen < kMostFiles;
       entry.increment(error), ++seen) {
    std::error_code ignored;
    if (entry->is_directory(ignored)) folders.push_back(entry->path());
    if (entry->is_regular_file(ignored)) names.push_back(entry->path());
  }
  std::ranges::sort(names);
  std::ranges::sort(folders);
  bool module = false;
  for (const fs::path& path : names) {
    const std::string name = path.filename().string();
    if (is_foreign(name)) continue;
    auto file = classify_dump_file(path.string(), name, read_head(path.string(), kProgramHeadBytes));
    if (!file) continue;
    module |= !file->report;
    files.push_back(std::move(*file));
  }
  if (module || depth == kDeepestFolder) return;
  for (const fs::path& inner : folders) list(inner, depth + 1, files, seen);
}

}  // namespace

std::string group_of(std::string_view file_name) {
  const size_t at = file_name.find("module_");
  if (at == std::string_view::npos) return {};
  size_t end = at + 7;
  while (end < file_name.size() && std::isdigit(static_cast<unsigned char>(file_name[end]))) ++end;
  if (end == at + 7 || end == file_name.size() || file_name[end] != '.') return {};
  end = std::min(file_name.find('.', end + 1), file_name.size());
  return std::string(file_name.substr(0, end));
}

std::optional<DumpFile> classify_dump_file(const std::string& path, std::string_view file_name, std::string_view head) {
  DumpFile file;
  file.path = path;
  std::string_view stem = file_name;
  drop_ending(stem, ".gz");
  const bool named_proto = drop_ending(stem, ".pb");
  for (const std::string_view ending : {".txt", ".hlo"}) drop_ending(stem, ending);
  file.group = group_of(file_name);
  file.report = report_kind(head);
  bool scheduled = false;
  if (file.report) {
    for (const std::string_view ending : {"buffer-assignment", "live-range", "memory-usage-report"}) {
      if (drop_ending(stem, ending))
        stem.remove_suffix(stem.find_last_not_of("-_.") == std::string_view::npos
                               ? 0
                               : stem.size() - 1 - stem.find_last_not_of("-_."));
    }
  } else if (form_of(head, file_name, false) == ModuleForm::kHloText) {
    const std::string_view header = header_line(head);
    scheduled = header.find("is_scheduled=true") != std::string_view::npos;
    file.program = program_of(header);
  } else if (head.starts_with("\n") && (named_proto || head.find('\0') != std::string_view::npos)) {
    file.proto = true;  // field 1 as bytes: the first field of HloProto and of HloModuleProto
  } else {
    return std::nullopt;
  }
  file.stem = std::string(stem);
  set_stage(file, scheduled);
  return file;
}

std::vector<DumpFile> list_dump_files(const std::string& directory) {
  std::vector<DumpFile> files;
  size_t seen = 0;
  list(directory, 0, files, seen);
  return files;
}

}  // namespace lowtide::engine
