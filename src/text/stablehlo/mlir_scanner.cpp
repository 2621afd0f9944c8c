#include "text/stablehlo/mlir_scanner.h"

#include <algorithm>

namespace lowtide::engine {
namespace {

constexpr auto kNone = std::string_view::npos;

bool is_identifier_char(char c) { return is_name_start(c) || is_digit(c) || c == '.' || c == '$'; }
bool is_suffix_char(char c) { return is_identifier_char(c) || c == '-'; }

char partner_of(char open) { return open == '(' ? ')' : open == '[' ? ']' : open == '{' ? '}' : '>'; }
bool opens(char c) { return c == '(' || c == '[' || c == '{' || c == '<'; }
bool closes(char c) { return c == ')' || c == ']' || c == '}' || c == '>'; }

}  // namespace

size_t end_of_mlir_brackets(std::string_view text, size_t at) {
  std::string expected;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = end_of_string(text, at);
      if (at == kNone) return kNone;
      continue;
    }
    if (c == '/' && text.substr(at, 2) == "//") {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (c == '-' && text.substr(at, 2) == "->") {
      at += 2;
      continue;
    }
    ++at;
    if (opens(c)) {
      expected += partner_of(c);
    } else if (closes(c)) {
      if (expected.back() != c) return kNone;
      expected.pop_back();
      if (expected.empty()) return at;
    }
  }
  return kNone;
}

std::string_view MlirScanner::identifier() {
  if (!is_name_start(peek())) return {};
  const size_t begin = at();
  size_t end = begin;
  while (end < text().size() && is_identifier_char(text()[end])) ++end;
  move_to(end);
  return text().substr(begin, end - begin);
}

std::string_view MlirScanner::signed_name(char sign) {
  if (peek() != sign) return {};
  const size_t begin = at() + 1;
  if (begin < text().size() && text()[begin] == '"') {
    const size_t end = end_of_string(text(), begin);
    if (end == kNone) return {};
    move_to(end);
    return text().substr(begin + 1, end - begin - 2);
  }
  size_t end = begin;
  while (end < text().size() && is_suffix_char(text()[end]) && text().substr(end, 2) != "->") ++end;
  if (end > begin) move_to(end);
  return text().substr(begin, end - begin);
}

bool MlirScanner::next_is_word(std::string_view word) {
  MlirScanner ahead = *this;
  return ahead.identifier() == word;
}

bool MlirScanner::eat_word(std::string_view word) {
  if (!next_is_word(word)) return false;
  (void)identifier();
  return true;
}

std::string_view MlirScanner::bracketed() {
  if (!opens(peek())) return {};
  const size_t begin = at();
  const size_t end = end_of_mlir_brackets(text(), begin);
  if (end == kNone) return {};
  move_to(end);
  return text().substr(begin, end - begin);
}

std::string_view MlirScanner::dictionary_value() {
  peek();
  const size_t begin = at();
  size_t end = begin;
  while (end < text().size()) {
    const char c = text()[end];
    if (c == ',' || closes(c)) break;
    if (c == '"') {
      end = end_of_string(text(), end);
    } else if (opens(c)) {
      end = end_of_mlir_brackets(text(), end);
    } else {
      end += text().substr(end, 2) == "->" ? 2 : 1;
    }
    if (end == kNone) return {};
  }
  move_to(end);
  while (end > begin && is_space(text()[end - 1])) --end;
  return text().substr(begin, end - begin);
}

std::string_view MlirScanner::plain_value() {
  const char first = peek();
  const size_t begin = at();
  if (first == '"') {
    const size_t end = end_of_string(text(), begin);
    if (end == kNone) return {};
    move_to(end);
    return text().substr(begin, end - begin);
  }
  if (opens(first)) {
    if (bracketed().empty()) return {};
    for (;;) {  // `[0] x [0]`, `[b, f]x[o, i]->[b, f]`
      MlirScanner ahead = *this;
      if (!ahead.eat("x") && !ahead.eat("->")) break;
      if (ahead.peek() != '[' || ahead.bracketed().empty()) break;
      move_to(ahead.at());
    }
    return text().substr(begin, at() - begin);
  }
  if (first == '#' || first == '@' || first == '!') {
    if (signed_name(first).empty()) return {};
  } else {
    size_t end = begin;
    while (end < text().size() && (is_suffix_char(text()[end]) || text()[end] == '+')) ++end;
    if (end == begin) return {};
    move_to(end);
  }
  if (at() < text().size() && text()[at()] == '<' && bracketed().empty()) return {};
  return text().substr(begin, at() - begin);
}

}  // namespace lowtide::engine
