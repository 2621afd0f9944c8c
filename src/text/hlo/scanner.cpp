#include "text/hlo/scanner.h"

#include <fmt/format.h>

#include <charconv>

namespace lowtide::engine {
namespace {

/// The token at `at` for an error message, shortened.
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

/// The end of a value without brackets or quotes: at white space, a comma or an unmatched closing bracket.
size_t end_of_word(std::string_view text, size_t at) {
  while (at < text.size()) {
    const char c = text[at];
    if (is_space(c) || c == ',' || c == ')' || c == ']' || c == '}' || text.substr(at, 2) == "/*") break;
    at = c == '[' || c == '(' || c == '{' ? end_of_brackets(text, at) : c == '"' ? end_of_string(text, at) : at + 1;
    if (at == std::string_view::npos) break;
  }
  return at;
}

/// The place at which a value continues after white space, or npos: `[2,4] <= [8] T(1,0)`, `mesh['x'=4],
/// device_ids=(...) {'x'}`, `s32[2]{0} {1, 2}`.
size_t continuation(std::string_view part, std::string_view text, size_t end) {
  const size_t next = skip_blank(text, end);
  const std::string_view rest = text.substr(next);
  const bool here = [&] {
    if (part.starts_with("mesh[")) return rest.starts_with('{');
    if (part.starts_with('[')) return rest.starts_with("T(");
    const bool shape = part.ends_with(']') || (part.ends_with('}') && part.find('[') != std::string_view::npos);
    if (!shape || rest.empty() || next == end) return false;
    const std::string_view word = rest.substr(0, end_of_word(rest, 0));
    return rest[0] == '{' || rest[0] == '-' || is_digit(rest[0]) || word == "true" || word == "false" ||
           word == "nan" || word == "inf";
  }();
  if (here) return next;
  if (part.starts_with('[') && rest.starts_with("<=")) return skip_blank(text, next + 2);
  if (part.starts_with("mesh[") && rest.starts_with(',')) {
    const size_t ids = skip_blank(text, next + 1);
    if (text.substr(ids).starts_with("device_ids=")) return ids;
  }
  return std::string_view::npos;
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

  size_t end = end_of_word(text_, begin);
  while (end != std::string_view::npos) {
    const size_t next = continuation(text_.substr(begin, end - begin), text_, end);
    if (next == std::string_view::npos) break;
    end = end_of_word(text_, next);
  }
  return stop_at(end);
}

Status Scanner::expected(std::string_view what) {
  peek();
  return Status::input(fmt::format("found {}, expected {}", token_at(text_, at_), what)).at(source_, place());
}

Status Scanner::fault(Offset place, std::string message) const {
  return Status::input(std::move(message)).at(source_, place);
}

}  // namespace lowtide::engine
