#include "compile_options.h"

#include <cstring>

#include "lowtide/words.h"
#include "protobuf.h"

namespace lowtide::pjrt {
namespace {

/// DeviceAssignmentProto: the device of the first replica of each computation.
std::vector<int64_t> first_devices(std::string_view bytes) {
  std::vector<int64_t> devices;
  Fields assignment(bytes);
  while (assignment.next()) {
    if (assignment.number != 3) continue;
    Fields computation(assignment.bytes);
    while (computation.next()) {
      if (computation.number != 1) continue;
      devices.push_back(
          static_cast<int64_t>(computation.bytes.empty() ? computation.value : Fields(computation.bytes).varint()));
      break;
    }
  }
  return devices;
}

bool read_build_options(std::string_view bytes, CompileOptions& options) {
  Fields build(bytes);
  while (build.next()) {
    if (build.number == 4) options.replicas = static_cast<int64_t>(build.value);
    if (build.number == 5) options.partitions = static_cast<int64_t>(build.value);
    if (build.number == 9) options.devices = first_devices(build.bytes);
  }
  return !build.is_broken();
}

/// Reads one of `jax.jit(f, compiler_options={...})`. Names that begin with xla_ are XLA's own options and are ignored;
/// any other unknown name is refused with XLA's message, since a misspelt limit would have no effect.
PJRT_Error* read_override(std::string_view bytes, Wishes& wishes) {
  std::string_view key;
  std::string text;
  bool flag = false;
  Fields entry(bytes);
  while (entry.next()) {
    if (entry.number == 1) key = entry.bytes;
    if (entry.number != 2) continue;
    Fields value(entry.bytes);
    while (value.next()) {
      flag = value.number == 2 && value.value != 0;
      if (value.number == 1) text = value.bytes;
      if (value.number == 3) text = std::to_string(value.value);
      if (value.number == 4 && value.bytes.size() == sizeof(double)) {
        double number = 0;
        std::memcpy(&number, value.bytes.data(), sizeof number);
        text = std::to_string(static_cast<int64_t>(number));
      }
    }
  }
  if (key == "lowtide_limit") {
    const Result<int64_t> bytes_allowed = parse_size(text);
    if (!bytes_allowed.ok()) return invalid("lowtide_limit: " + bytes_allowed.error().message);
    wishes.limit = *bytes_allowed;
  } else if (key == "lowtide_exact") {
    wishes.exact = flag || text == "true" || text == "1";
  } else if (!key.starts_with("xla_")) {
    return invalid("No such compile option: '" + std::string(key) +
                   "', expected lowtide_limit, lowtide_exact or one of XLA's (xla_...)");
  }
  return nullptr;
}

}  // namespace

PJRT_Error* read_compile_options(std::string_view bytes, const Wishes& usual, CompileOptions& options) {
  options.wishes = usual;
  Fields fields(bytes);
  bool whole = true;
  while (fields.next()) {
    if (fields.number == 3) whole = whole && read_build_options(fields.bytes, options);
    if (fields.number == 7) {
      if (PJRT_Error* error = read_override(fields.bytes, options.wishes)) return error;
    }
  }
  if (!whole || fields.is_broken()) return invalid("found compile options that are no CompileOptionsProto");
  return nullptr;
}

}  // namespace lowtide::pjrt
