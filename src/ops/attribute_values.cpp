// Reads and writes small values: strings, lists of integers, aliases, windows.
#include <fmt/format.h>

#include "ops/attribute_text.h"
#include "ops/text_cursor.h"

namespace lowtide::engine {
namespace {

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void append_utf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | ((code >> 18) & 7));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3f));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

/// `2x3x1`: integers joined by x.
std::optional<Dims> crossed(std::string_view text) {
  TextCursor cursor(text);
  Dims values;
  do {
    const std::optional<int64_t> value = cursor.integer();
    if (!value) return std::nullopt;
    values.push_back(*value);
  } while (cursor.eat("x"));
  if (!cursor.done()) return std::nullopt;
  return values;
}

/// `1_1x0_2`: pairs of integers joined by x.
bool crossed_pairs(std::string_view text, Dims& low, Dims& high) {
  TextCursor cursor(text);
  do {
    const std::optional<int64_t> first = cursor.integer();
    if (!first || !cursor.eat("_")) return false;
    const std::optional<int64_t> second = cursor.integer();
    if (!second) return false;
    low.push_back(*first);
    high.push_back(*second);
  } while (cursor.eat("x"));
  return cursor.done();
}

Result<ShapeIndex> shape_index(TextCursor& cursor) {
  if (!cursor.eat("{")) return cursor.expected("a tuple index like {0}");
  std::optional<Dims> index = cursor.integers();
  if (!index || !cursor.eat("}")) return cursor.expected("integers and '}'");
  for (const int64_t i : *index) {
    if (i < 0) return Status::input(fmt::format("found the tuple index {}, expected none below 0", i));
  }
  return *index;
}

}  // namespace

Result<Dims> parse_dims(std::string_view text) {
  TextCursor cursor(text);
  const char* form = "a list of integers like {0,1}";
  const bool braces = cursor.eat("{");
  std::optional<Dims> dims = cursor.integers();
  if (!dims || (!braces && dims->size() != 1)) return cursor.expected(form);
  if (braces && !cursor.eat("}")) return cursor.expected(form);
  if (!cursor.done()) return cursor.expected("the end of the list");
  return *dims;
}

Result<Dims> parse_order(std::string_view layout) {
  const size_t colon = layout.find(':');
  const bool only_bits = colon != std::string_view::npos && layout.substr(colon).starts_with(":E(") &&
                         layout.find_first_not_of("0123456789", colon + 3) == layout.size() - 2 &&
                         layout.ends_with(")}");
  return only_bits ? parse_dims(std::string(layout.substr(0, colon)) + '}') : parse_dims(layout);
}

Result<std::vector<AliasEntry>> parse_aliases(std::string_view text) {
  TextCursor cursor(text);
  if (!cursor.eat("{")) return cursor.expected("'{'");
  std::vector<AliasEntry> entries;
  while (cursor.peek() != '}') {
    AliasEntry entry;
    LT_ASSIGN_OR_RETURN(entry.output, shape_index(cursor));
    if (!cursor.eat(":") || !cursor.eat("(")) return cursor.expected("': ('");
    const std::optional<int64_t> operand = cursor.integer();
    if (!operand || *operand < 0) return cursor.expected("a parameter or operand number");
    entry.operand = *operand;
    if (cursor.eat(",")) {
      LT_ASSIGN_OR_RETURN(entry.operand_index, shape_index(cursor));
      if (cursor.eat(",")) {
        const bool must = cursor.eat("must-alias") || cursor.eat("must_alias");
        if (!must && !cursor.eat("may-alias") && !cursor.eat("may_alias")) {
          return cursor.expected("may-alias or must-alias");
        }
        entry.must_alias = must;
      }
    }
    if (!cursor.eat(")")) return cursor.expected("')'");
    entries.push_back(std::move(entry));
    if (!cursor.eat(",")) break;
  }
  if (!cursor.eat("}")) return cursor.expected("',' or '}'");
  if (!cursor.done()) return cursor.expected("the end of the list");
  return entries;
}

Result<Window> parse_window(std::string_view text) {
  TextCursor cursor(text);
  if (!cursor.eat("{")) return cursor.expected("'{'");
  Window window;
  std::optional<Dims> reversal;
  while (cursor.peek() != '}') {
    const std::string_view key = cursor.word();
    if (key.empty() || !cursor.eat("=")) return cursor.expected("size=, stride=, pad=, ... or '}'");
    const std::string_view value = cursor.rest().substr(0, cursor.rest().find_first_of(" \t\n,}"));
    Dims* list = key == "size"         ? &window.size
                 : key == "stride"     ? &window.stride
                 : key == "lhs_dilate" ? &window.lhs_dilate
                 : key == "rhs_dilate" ? &window.rhs_dilate
                                       : nullptr;
    if (key == "pad") {
      if (!crossed_pairs(value, window.pad_low, window.pad_high)) return cursor.expected("pairs like 1_1x0_2");
    } else if (list || key == "rhs_reversal") {
      std::optional<Dims> values = crossed(value);
      if (!values) return cursor.expected("integers like 3x3");
      (list ? *list : reversal.emplace()) = std::move(*values);
    } else {
      return Status::input(fmt::format("found '{}', expected size, stride, pad, lhs_dilate, rhs_dilate or rhs_reversal",
                                       std::string(key)));
    }
    cursor.eat(value);
    cursor.eat(",");
  }
  if (!cursor.eat("}") || !cursor.done()) return cursor.expected("the end of the window");

  const size_t rank = window.size.size();
  const auto fill = [rank](Dims& list, int64_t value) {
    if (list.empty()) list.assign(rank, value);
    return list.size() == rank;
  };
  if (reversal) window.rhs_reversal.assign(reversal->begin(), reversal->end());
  if (window.rhs_reversal.empty()) window.rhs_reversal.assign(rank, false);
  if (!fill(window.stride, 1) || !fill(window.pad_low, 0) || !fill(window.pad_high, 0) || !fill(window.lhs_dilate, 1) ||
      !fill(window.rhs_dilate, 1) || window.rhs_reversal.size() != rank) {
    return Status::input(fmt::format("the lists differ in length; size has {} entries", rank));
  }
  return window;
}

Result<std::string> unquote(std::string_view quoted) {
  if (quoted.size() < 2 || quoted.front() != '"' || end_of_string(quoted, 0) != quoted.size()) {
    return Status::input(fmt::format("found '{}', expected a string in double quotes", quoted.substr(0, 40)));
  }
  const std::string_view body = quoted.substr(1, quoted.size() - 2);
  std::string out;
  out.reserve(body.size());
  for (size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '\\' || i + 1 == body.size()) {
      out += body[i];
      continue;
    }
    const char c = body[++i];
    const auto digits = [&](size_t most, int base) {  // reads up to `most` digits after position i
      uint32_t value = 0;
      for (size_t n = 0; n < most && i + 1 < body.size(); ++n) {
        const int digit = hex_digit(body[i + 1]);
        if (digit < 0 || digit >= base) break;
        value = value * static_cast<uint32_t>(base) + static_cast<uint32_t>(digit);
        ++i;
      }
      return value;
    };
    switch (c) {
      case 'n': out += '\n'; break;
      case 'r': out += '\r'; break;
      case 't': out += '\t'; break;
      case 'a': out += '\a'; break;
      case 'b': out += '\b'; break;
      case 'f': out += '\f'; break;
      case 'v': out += '\v'; break;
      case 'x':
      case 'X': out += static_cast<char>(digits(2, 16)); break;
      case 'u': append_utf8(out, digits(4, 16)); break;
      case 'U': append_utf8(out, digits(8, 16)); break;
      default:
        if (c >= '0' && c <= '7') {
          --i;
          out += static_cast<char>(digits(3, 8));
        } else {
          out += c;  // \" \' \\ \?
        }
    }
  }
  return out;
}

}  // namespace lowtide::engine
