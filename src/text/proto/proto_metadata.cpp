#include <fmt/format.h>

#include <algorithm>

#include "ops/attribute_text.h"
#include "text/proto/proto_attributes.h"
#include "text/proto/proto_sharding.h"

namespace lowtide {

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
  // Bare only if the braces close where the text ends, strings skipped: what stands behind must not be swallowed.
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < raw.size(); ++i) {
    const char c = raw[i];
    if (i == 0 && c != '{') return quote(raw);
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return i + 1 == raw.size() ? std::string(raw) : quote(raw);
    }
  }
  return quote(raw);
}

std::string frontend_attributes_text(const WireMessage& proto) {
  std::vector<std::pair<std::string, std::string>> entries;
  for (const WireMessage& entry : proto.messages(1)) entries.emplace_back(entry.bytes(1), config_text(entry.bytes(2)));
  if (entries.empty()) return {};
  std::ranges::sort(entries);
  std::string text = "{";
  for (const auto& [key, value] : entries) text += fmt::format("{}{}={}", text.size() > 1 ? "," : "", key, value);
  return text + '}';
}

}  // namespace lowtide
