#include "text/input.h"

#include <fmt/format.h>

#include <filesystem>

#include "ops/verify.h"
#include "text/dump/complete_input.h"
#include "text/dump/dump_directory.h"
#include "text/file.h"
#include "text/module_bytes.h"

namespace lowtide {
namespace {

Result<Input> read_file_input(const std::string& path) {
  LT_ASSIGN_OR_RETURN(std::string bytes, read_bytes(path));
  Input input;
  input.path = path;
  LT_ASSIGN_OR_RETURN(input.module, parse_module(std::move(bytes), path == "-" ? "<stdin>" : path));
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
