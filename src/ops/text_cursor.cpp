#include "ops/text_cursor.h"

#include <algorithm>

namespace lowtide::engine {

size_t end_of_string(std::string_view text, size_t at) {
  for (size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

size_t skip_blank(std::string_view text, size_t at) {
  while (at < text.size()) {
    if (is_space(text[at])) {
      ++at;
    } else if (text.substr(at, 2) == "/*") {
      const size_t end = text.find("*/", at + 2);
      at = end == std::string_view::npos ? text.size() : end + 2;
    } else if (text.substr(at, 2) == "//") {
      const size_t end = text.find_first_of("\n\r", at);
      at = end == std::string_view::npos ? text.size() : end + 1;
    } else {
      break;
    }
  }
  return std::min(at, text.size());
}

size_t end_of_brackets(std::string_view text, size_t at) {
  std::string open;  // the brackets that are still open, innermost last
  for (size_t i = at; i < text.size();) {
    const char c = text[i];
    if (c == '"') {
      i = end_of_string(text, i);
      if (i == std::string_view::npos) return i;
      continue;
    }
    // `//` inside a word isn't a comment but part of an unquoted path or address in an attribute.
    if (c == '/' && i > at && (is_space(text[i - 1]) || text.substr(i, 2) == "/*")) {
      const size_t after = skip_blank(text, i);
      i = after > i ? after : i + 1;
      continue;
    }
    if (c == '(' || c == '[' || c == '{') {
      open.push_back(c);
    } else if (c == ')' || c == ']' || c == '}') {
      const char partner = c == ')' ? '(' : c == ']' ? '[' : '{';
      if (open.empty() || open.back() != partner) return std::string_view::npos;
      open.pop_back();
      if (open.empty()) return i + 1;
    }
    ++i;
  }
  return std::string_view::npos;
}

}  // namespace lowtide::engine
