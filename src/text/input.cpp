#include "text/input.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>

#include "ops/verify.h"
#include "text/dump/complete_input.h"
#include "text/dump/dump_directory.h"
#include "text/file.h"
#include "text/module_bytes.h"

namespace lowtide {
namespace {

/// `programs.mlir#2`, `programs.mlir#step`, `programs.mlir#2.step`: the file, which of its programs and which function
/// of that; nothing chosen where a file has that name as it stands.
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

Result<Input> read_file_input(const std::string& name) {
  const auto [path, choice] = split_choice(name);
  LT_ASSIGN_OR_RETURN(std::string bytes, read_bytes(path));
  Input input;
  input.path = path;
  LT_ASSIGN_OR_RETURN(input.module, parse_module(std::move(bytes), path == "-" ? "<stdin>" : name, choice));
  if (path != "-") complete_from_folder(input);
  return input;
}

}  // namespace

Result<Input> read_input(const std::string& path) {
  std::error_code error;
  const bool directory = path != "-" && std::filesystem::is_directory(path, error);
  LT_ASSIGN_OR_RETURN(Input input, directory ? read_dump_directory(path) : read_file_input(path));
  const Status verified = verify(*input.module);
  if (verified.ok() || verified.has_place()) {
    LT_RETURN_IF_ERROR(verified);
    return input;
  }
  return Status(verified.fault(), fmt::format("{}: {}", input.path, verified.message()));
}

}  // namespace lowtide
