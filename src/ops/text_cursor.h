#pragma once
/// Walks over a piece of text, for the readers of attribute values.

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "ir/shape.h"

namespace lowtide::engine {

inline bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
inline bool is_name_char(char c) { return is_name_start(c) || is_digit(c) || c == '.' || c == '-'; }

/// The end of the string that opens at `at`: after its closing quote, or npos.
size_t end_of_string(std::string_view text, size_t at);
/// The end of the bracket ( [ or { that opens at `at`: after its closing one, or npos. Strings and comments are
/// skipped.
size_t end_of_brackets(std::string_view text, size_t at);
/// The position after white space and comments from `at` on.
size_t skip_blank(std::string_view text, size_t at);

class TextCursor {
 public:
  explicit TextCursor(std::string_view text, size_t at = 0) : text_(text), at_(at) {}

  size_t at() const { return at_; }
  std::string_view rest() const { return text_.substr(at_); }
  bool done() {
    blank();
    return at_ >= text_.size();
  }
  char peek() {
    blank();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool eat(std::string_view token) {
    blank();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  /// Reads a word of letters, digits, `_`, `.` and `-`; empty if there is none here.
  std::string_view word() {
    blank();
    const size_t begin = at_;
    while (at_ < text_.size() && is_name_char(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  std::optional<int64_t> integer() {
    blank();
    int64_t value = 0;
    const char* end = text_.data() + text_.size();
    const auto [stop, error] = std::from_chars(text_.data() + at_, end, value);
    if (error != std::errc()) return std::nullopt;
    at_ = static_cast<size_t>(stop - text_.data());
    return value;
  }
  /// Reads `1,2,3`, possibly empty; nullopt if a comma isn't followed by an integer.
  std::optional<Dims> integers() {
    Dims list;
    std::optional<int64_t> next = integer();
    while (next) {
      list.push_back(*next);
      if (!eat(",")) return list;
      next = integer();
      if (!next) return std::nullopt;
    }
    return list;
  }
  /// Reads `'x'`; returns the text between the quotes.
  std::optional<std::string_view> quoted_name() {
    if (!eat("'")) return std::nullopt;
    const size_t end = text_.find('\'', at_);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view name = text_.substr(at_, end - at_);
    at_ = end + 1;
    return name;
  }
  /// An error that says what was found here, and what was expected.
  Status expected(std::string_view what) {
    blank();
    std::string_view found = rest().substr(0, 24);
    std::string message = found.empty() ? "found the end of the value" : "found '" + std::string(found);
    if (!found.empty()) message += rest().size() > 24 ? "...'" : "'";
    return Status::input(message + ", expected " + std::string(what));
  }

 private:
  void blank() { at_ = skip_blank(text_, at_); }

  std::string_view text_;
  size_t at_;
};

}  // namespace lowtide::engine
