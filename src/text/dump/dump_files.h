#pragma once
/// What the files of a dump directory are, by their names where XLA gave them and by their first bytes where not.

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
  std::string group;                 ///< "module_0004.jit_f": which module, where the file's name says so, else empty
  std::string program;               ///< name and entry signature from a text's header, without layouts
  std::optional<ReportKind> report;  ///< nullopt: a module
  bool proto = false;                ///< a module in protobuf form; certain only when the whole file has been read
  int64_t stage = 0;                 ///< later stages are larger
  std::string stage_name;            ///< "after optimizations"
  bool before_xla() const { return stage < kFirstPass; }
  static constexpr int64_t kFirstPass = 10;  ///< XLA's own, and all later ones
};

/// The group that XLA's own file names say: `module_0004.jit_f` of `module_0004.jit_f.before_optimizations.txt`.
std::string group_of(std::string_view file_name);

/// Fills in everything from a name and the first bytes; nullopt for files that are neither module nor report.
std::optional<DumpFile> classify_dump_file(const std::string& path, std::string_view file_name, std::string_view head);

/// All of a directory, in the order of their names. Looks into subfolders only where the folder itself has no module.
std::vector<DumpFile> list_dump_files(const std::string& directory);

}  // namespace lowtide::engine
