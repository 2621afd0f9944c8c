// Reads jax.export's flatbuffer (https://flatbuffers.dev/internals): a table with a module in one of its fields.
#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "text/bytecode.h"
#include "text/bytecode/bytecode_file.h"

namespace lowtide::engine {
namespace {

/// A little-endian number; none if it isn't within the bytes.
template <class T>
std::optional<T> number_at(std::string_view bytes, size_t at) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) return std::nullopt;
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

/// The offset of a field of the outermost table; none if it is absent or the bytes are no flatbuffer.
std::optional<size_t> field_at(std::string_view bytes, size_t field) {
  const auto root = number_at<uint32_t>(bytes, 0);
  if (!root) return std::nullopt;
  const auto back = number_at<int32_t>(bytes, *root);
  if (!back) return std::nullopt;
  const int64_t table = int64_t{*root} - *back;
  if (table < 0) return std::nullopt;
  const auto offsets = static_cast<size_t>(table);
  const auto size = number_at<uint16_t>(bytes, offsets);
  constexpr size_t kHead = 2 * sizeof(uint16_t);
  const size_t slot = kHead + field * sizeof(uint16_t);
  if (!size || *size < slot + sizeof(uint16_t)) return std::nullopt;
  const auto offset = number_at<uint16_t>(bytes, offsets + slot);
  if (!offset || *offset == 0) return std::nullopt;
  return size_t{*root} + *offset;
}

/// The offset of the module's bytes, and their stated number.
std::optional<std::pair<size_t, size_t>> module_in(std::string_view bytes) {
  constexpr size_t kVersion = 0, kModule = 13;
  constexpr uint16_t kNewest = 16;
  const auto version_place = field_at(bytes, kVersion), place = field_at(bytes, kModule);
  if (!version_place || !place) return std::nullopt;
  const auto version = number_at<uint16_t>(bytes, *version_place);
  const auto offset = number_at<uint32_t>(bytes, *place);
  if (!version || *version > kNewest || !offset) return std::nullopt;
  const auto size = number_at<uint32_t>(bytes, *place + *offset);
  if (!size) return std::nullopt;
  return std::pair<size_t, size_t>(*place + *offset + sizeof(uint32_t), *size);
}

}  // namespace

bool is_exported(std::string_view bytes) {
  const auto module = module_in(bytes);
  return module && module->first <= bytes.size() && is_bytecode(bytes.substr(module->first));
}

Result<std::string_view> bytecode_of_exported(std::string_view bytes, const std::string& name) {
  const auto module = module_in(bytes);
  if (!module || module->first > bytes.size()) return Status::input(name + ": no function that jax.export serialised");
  const auto& [begin, size] = *module;
  if (size > bytes.size() - begin) {
    return Status::input(
        fmt::format("{}: byte {}: found {} bytes of the module, expected {}", name, begin, bytes.size() - begin, size));
  }
  return bytes.substr(begin, size);
}

}  // namespace lowtide::engine
