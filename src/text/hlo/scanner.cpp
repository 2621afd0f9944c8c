#include "text/hlo/scanner.h"

#include <fmt/format.h>

#include <charconv>

namespace lowtide {
namespace {

/// What stands at `at`, short enough for a sentence.
std::string token_at(std::string_view text, size_t at) {
  if (at >= text.size()) return "the end of the text";
  constexpr size_t kLongest = 40;
  size_t end = at + 1;
  if (is_name_char(text[at]) || text[at] == '%') {
    while (end < text.size() && is_name_char(text[end])) ++end;
  } else if (text[at] == '"') {
    end = std::min(end_of_string(text, at), text.size());
  }
  const std::string_view token = text.substr(at, std::min(end - at, kLongest));
  std::string shown;
  for (const char c : token) {
    const auto byte = static_cast<unsigned char>(c);
    shown += byte < 0x20 || byte == 0x7f ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return fmt::format("'{}{}'", shown, end - at > kLongest ? "..." : "");
}

}  // namespace

std::optional<int64_t> Scanner::integer() {
  peek();
  int64_t value = 0;
  const auto [stop, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
  if (error != std::errc()) return std::nullopt;
  at_ = static_cast<size_t>(stop - text_.data());
  return value;
}

std::string_view Scanner::bracketed() {
  peek();
  const size_t begin = at_;
  const size_t end = end_of_brackets(text_, at_);
  if (end == std::string_view::npos) return {};
  at_ = end;
  return text_.substr(begin, end - begin);
}

std::string_view Scanner::attribute_value() {
  const char first = peek();
  const size_t begin = at_;
  const auto stop_at = [&](size_t end) {
    if (end == std::string_view::npos) return std::string_view();
    at_ = end;
    return text_.substr(begin, end - begin);
  };
  if (first == '{' || first == '(') return stop_at(end_of_brackets(text_, begin));
  if (first == '"') return stop_at(end_of_string(text_, begin));

  const bool is_mesh = text_.substr(begin, 5) == "mesh[";
  size_t i = begin;
  while (i < text_.size()) {
    const char c = text_[i];
    if (c == '[' || c == '(' || c == '{') {
      i = end_of_brackets(text_, i);
      if (i == std::string_view::npos) return {};
    } else if (c == '"') {
      i = end_of_string(text_, i);
      if (i == std::string_view::npos) return {};
    } else if (is_space(c) || c == ',' || c == ')' || c == ']' || c == '}') {
      // `[2,4] <= [8]` and `mesh['x'=4], device_ids=(...) {'x'}` go on behind a gap.
      if (first != '[' && !is_mesh) break;
      const size_t next = skip_blank(text_, i);
      const std::string_view rest = text_.substr(next);
      if (rest.starts_with("<=")) {
        i = skip_blank(text_, next + 2);
      } else if ((first == '[' && rest.starts_with("T(")) || (is_mesh && rest.starts_with('{'))) {
        i = rest.starts_with('{') ? next : next + 1;
      } else if (is_mesh && rest.starts_with(',') &&
                 text_.substr(skip_blank(text_, next + 1)).starts_with("device_ids=")) {
        i = skip_blank(text_, next + 1);
      } else {
        break;
      }
    } else if (c == '/' && text_.substr(i, 2) == "/*") {
      break;
    } else {
      ++i;
    }
  }
  return stop_at(i);
}

Status Scanner::expected(std::string_view what) {
  peek();
  return Status::input(fmt::format("found {}, expected {}", token_at(text_, at_), what)).at(source_, place());
}

Status Scanner::fault(Offset place, std::string message) const {
  return Status::input(std::move(message)).at(source_, place);
}

}  // namespace lowtide
