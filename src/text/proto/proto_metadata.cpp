#include <fmt/format.h>

#include <algorithm>

#include "ops/attribute_text.h"
#include "ops/text_cursor.h"
#include "text/proto/proto_attributes.h"
#include "text/proto/proto_sharding.h"

namespace lowtide::engine {

Metadata metadata_from_proto(const WireMessage& proto) {
  Metadata metadata;
  metadata.op_type = proto.bytes(1);
  metadata.op_name = proto.bytes(2);
  metadata.source_file = proto.bytes(3);
  metadata.source_line = proto.integer(4);
  metadata.stack_frame_id = proto.integer(15);
  const auto number = [&](std::string key, uint32_t field) {
    if (const int64_t value = proto.integer(field); value != 0)
      metadata.rest.push_back({std::move(key), std::to_string(value)});
  };
  const auto text = [&](std::string key, uint32_t field) {
    if (!proto.bytes(field).empty()) metadata.rest.push_back({std::move(key), quote(proto.bytes(field))});
  };
  number("source_end_line", 17);
  number("source_column", 18);
  number("source_end_column", 19);
  if (proto.has(5)) metadata.rest.push_back({"profile_type", braced(proto.integers(5))});
  text("deduplicated_name", 12);
  text("scheduling_name", 16);
  return metadata;
}

std::string config_text(std::string_view raw) {
  // Unquoted only if the braces close at the end of the text, since a reader would drop anything after them.
  return raw.starts_with('{') && end_of_brackets(raw, 0) == raw.size() ? std::string(raw) : quote(raw);
}

std::string name_from_proto(std::string_view raw) {
  std::string name(raw);
  for (char& c : name) {
    const bool fits =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
    if (!fits) c = '_';
  }
  if (name.empty() || (name[0] >= '0' && name[0] <= '9') || name[0] == '-' || name[0] == '.') name.insert(0, 1, '_');
  return name;
}

std::string frontend_attributes_text(const WireMessage& proto) {
  std::vector<std::pair<std::string, std::string>> entries;
  for (const WireMessage& entry : proto.messages(1))
    entries.emplace_back(name_from_proto(entry.bytes(1)), config_text(entry.bytes(2)));
  if (entries.empty()) return {};
  std::ranges::sort(entries);
  std::string text = "{";
  for (const auto& [key, value] : entries) text += fmt::format("{}{}={}", text.size() > 1 ? "," : "", key, value);
  return text + '}';
}

}  // namespace lowtide::engine
