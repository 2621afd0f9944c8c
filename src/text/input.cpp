#include "text/input.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>

#include "ops/verify.h"
#include "text/dump/complete_input.h"
#include "text/dump/dump_directory.h"
#include "text/file.h"
#include "text/module_bytes.h"

namespace lowtide::engine {
namespace {

/// Splits `programs.mlir#2`, `programs.mlir#step` or `programs.mlir#2.step` into the file, the program in it, and the
/// function of that. If a file of this whole name exists, nothing is selected.
std::pair<std::string, ProgramChoice> split_choice(const std::string& path) {
  const size_t sign = path.rfind('#');
  if (sign == std::string::npos || sign + 1 == path.size() || std::filesystem::exists(path)) return {path, {}};
  ProgramChoice choice;
  const char* const end = path.data() + path.size();
  const auto [stop, error] = std::from_chars(path.data() + sign + 1, end, choice.number);
  const bool numbered = error == std::errc();
  if (numbered && (choice.number < 1 || (stop != end && *stop != '.') || stop + 1 == end)) return {path, {}};
  if (!numbered || stop != end) choice.function.assign(numbered ? stop + 1 : stop, end);
  return {path.substr(0, sign), choice};
}

/// Splits `dump#jit_step` into a folder and the module in it; the folder is empty if the path names a file.
std::pair<std::string, std::string> split_folder(const std::string& path) {
  std::error_code error;
  if (path == "-" || std::filesystem::is_directory(path, error)) return {path == "-" ? "" : path, ""};
  const size_t sign = path.rfind('#');
  if (sign == std::string::npos || std::filesystem::exists(path, error)) return {};
  const std::string folder = path.substr(0, sign);
  if (!std::filesystem::is_directory(folder, error)) return {};
  return {folder, path.substr(sign + 1)};
}

Result<Input> read_file_input(const std::string& name, const std::shared_ptr<Context>& context) {
  const auto [path, choice] = split_choice(name);
  LT_ASSIGN_OR_RETURN(std::string bytes, read_bytes(path));
  Input input;
  input.path = path;
  LT_ASSIGN_OR_RETURN(input.module, parse_module(std::move(bytes), path == "-" ? "<stdin>" : name, choice, context));
  if (path != "-") complete_from_folder(input);
  return input;
}

}  // namespace

Result<Input> read_input(const std::string& path, InputStage stage, std::shared_ptr<Context> context) {
  if (!context) context = std::make_shared<Context>();
  const OutermostStage reading(context->progress(), "reading", 0);
  const auto [folder, module] = split_folder(path);
  LT_ASSIGN_OR_RETURN(Input input, folder.empty() ? read_file_input(path, context)
                                                  : read_dump_directory(folder, module, stage, context));
  Status verified = verify(*input.module);
  if (verified.ok()) verified = verify_sizes(*input.module);
  if (verified.ok() || verified.has_place()) {
    LT_RETURN_IF_ERROR(verified);
    return input;
  }
  return Status(verified.fault(), fmt::format("{}: {}", input.path, verified.message()));
}

}  // namespace lowtide::engine
