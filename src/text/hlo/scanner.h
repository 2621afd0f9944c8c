#pragma once
/// Reads the source of a module token by token, and keeps the place for error messages.

#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "ops/text_cursor.h"

namespace lowtide::engine {

class Scanner {
 public:
  explicit Scanner(const Source& source, size_t at = 0) : source_(source), text_(source.text), at_(at) {}

  const Source& source() const { return source_; }
  std::string_view text() const { return text_; }
  size_t at() const { return at_; }
  Offset place() const { return static_cast<Offset>(at_); }
  void move_to(size_t at) { at_ = at; }

  /// The next character after white space and comments; '\0' at the end.
  char peek() {
    at_ = skip_blank(text_, at_);
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool done() { return peek() == '\0' && at_ >= text_.size(); }
  bool next_is(std::string_view token) {
    peek();
    return text_.substr(at_, token.size()) == token;
  }
  bool eat(std::string_view token) {
    if (!next_is(token)) return false;
    at_ += token.size();
    return true;
  }
  /// A name without its `%`; empty if no name follows.
  std::string_view name() {
    if (peek() == '%') ++at_;
    return word();
  }
  std::string_view word() {
    peek();
    const size_t begin = at_;
    while (at_ < text_.size() && is_name_char(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  std::optional<int64_t> integer();
  /// The text in a pair of brackets, including the brackets; empty if they don't match.
  std::string_view bracketed();
  /// The value of an attribute: {...}, (...), "...", a word, or a list of devices. Empty when there is none.
  std::string_view attribute_value();

  Status expected(std::string_view what);                 ///< the error "found ..., expected ..." at this place
  Status fault(Offset place, std::string message) const;  ///< an error at another place

 private:
  const Source& source_;
  std::string_view text_;
  size_t at_;
};

}  // namespace lowtide::engine
