#include <charconv>

#include "ops/attribute_text.h"
#include "ops/text_cursor.h"
#include "text/hlo/parser.h"

namespace lowtide::engine {
namespace {

bool read_number(std::string_view text, int64_t& out) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && stop == text.data() + text.size();
}

/// The end of the value at `at`: after a string, a closing bracket, or a word; npos if malformed.
size_t end_of_value(std::string_view text, size_t at) {
  if (at >= text.size()) return std::string_view::npos;
  if (text[at] == '"') return end_of_string(text, at);
  if (text[at] == '{') return end_of_brackets(text, at);
  size_t end = at;
  while (end < text.size() && !is_space(text[end]) && text[end] != ',' && text[end] != '}') ++end;
  return end > at ? end : std::string_view::npos;
}

}  // namespace

bool read_metadata(std::string_view text, Metadata& metadata) {
  if (text.size() < 2 || text.front() != '{' || text.back() != '}') return false;
  text = text.substr(1, text.size() - 2);
  size_t at = skip_blank(text, 0);
  while (at < text.size()) {
    size_t end = at;
    while (end < text.size() && is_name_char(text[end])) ++end;
    const std::string_view key = text.substr(at, end - at);
    if (key.empty() || end >= text.size() || text[end] != '=') return false;
    const size_t begin = skip_blank(text, end + 1);
    end = end_of_value(text, begin);
    if (end == std::string_view::npos) return false;
    const std::string_view value = text.substr(begin, end - begin);
    std::string* const string = key == "op_name"       ? &metadata.op_name
                                : key == "op_type"     ? &metadata.op_type
                                : key == "source_file" ? &metadata.source_file
                                                       : nullptr;
    int64_t* const number = key == "source_line"      ? &metadata.source_line
                            : key == "stack_frame_id" ? &metadata.stack_frame_id
                                                      : nullptr;
    if (string) {
      Result<std::string> raw = unquote(value);
      if (!raw.ok()) return false;
      *string = raw.take();
    } else if (number) {
      if (!read_number(value, *number)) return false;
    } else {
      metadata.rest.push_back({std::string(key), std::string(value)});
    }
    at = skip_blank(text, end);
    if (at < text.size() && text[at] == ',') at = skip_blank(text, at + 1);
  }
  return true;
}

}  // namespace lowtide::engine
