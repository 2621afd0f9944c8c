#pragma once
/// Classifies the files of a dump directory, by their names if XLA named them, or else by their first bytes.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/dump/xla_report.h"

namespace lowtide::engine {

/// A file that holds one module at one stage, or a report on one.
struct DumpFile {
  std::string path;
  std::string stem;                  ///< file name without endings: shared by a module and the reports on it
  std::string group;                 ///< "module_0004.jit_f": the module, if the file's name says so; or empty
  std::string program;               ///< name and entry signature from a text's header, without layouts
  std::optional<ReportKind> report;  ///< nullopt: a module
  bool proto = false;                ///< a module in protobuf form; certain only when the whole file has been read
  int64_t stage = 0;                 ///< later stages are larger
  std::string stage_name;            ///< "after optimizations"
  bool before_xla() const { return stage < kFirstPass; }
  static constexpr int64_t kFirstPass = 10;  ///< stages from here on are XLA's passes
};

/// The group in a file name of XLA's: `module_0004.jit_f` in `module_0004.jit_f.before_optimizations.txt`.
std::string group_of(std::string_view file_name);

/// Classifies a file by its name and first bytes; nullopt for files that are neither module nor report.
std::optional<DumpFile> classify_dump_file(const std::string& path, std::string_view file_name, std::string_view head);

/// All such files of a directory, ordered by name. Subfolders are searched only if the folder itself has no module.
std::vector<DumpFile> list_dump_files(const std::string& directory);

}  // namespace lowtide::engine
