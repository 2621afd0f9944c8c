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

/// `programs.mlir#2`: the file and which of its programs; 0 where a file has that name as it stands.
std::pair<std::string, int64_t> split_number(const std::string& path) {
  const size_t sign = path.rfind('#');
  int64_t number = 0;
  if (sign == std::string::npos || sign + 1 == path.size() || std::filesystem::exists(path)) return {path, 0};
  const auto [stop, error] = std::from_chars(path.data() + sign + 1, path.data() + path.size(), number);
  const bool whole = error == std::errc() && stop == path.data() + path.size() && number > 0;
  return whole ? std::pair(path.substr(0, sign), number) : std::pair(path, int64_t{0});
}

Result<Input> read_file_input(const std::string& name) {
  const auto [path, program] = split_number(name);
  LT_ASSIGN_OR_RETURN(std::string bytes, read_bytes(path));
  Input input;
  input.path = path;
  LT_ASSIGN_OR_RETURN(input.module, parse_module(std::move(bytes), path == "-" ? "<stdin>" : name, program));
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
