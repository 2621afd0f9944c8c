#include "base/status.h"

#include <fmt/format.h>

#include <algorithm>

namespace lowtide::engine {
namespace {

constexpr size_t kShownColumns = 100;  // a longer line is cut around the caret

}  // namespace

Status Status::at(const Source& source, Offset offset) const {
  if (ok() || has_place_ || offset == kNowhere) return *this;
  const std::string& text = source.text;
  const size_t at = std::min<size_t>(offset, text.size());
  const size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;  // npos + 1 == 0
  const size_t end = std::min(text.find('\n', at), text.size());
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n');
  const size_t column = at - begin;
  const size_t shown_from = column > kShownColumns - 20 ? column - (kShownColumns - 20) : 0;
  std::string shown = text.substr(begin + shown_from, std::min(kShownColumns, end - begin - shown_from));
  std::replace_if(shown.begin(), shown.end(), [](unsigned char c) { return c < 0x20; }, ' ');

  Status placed = *this;
  placed.message_ = fmt::format("{}:{}:{}: {}\n  {}\n  {}^", source.name, line, column + 1, message_, shown,
                                std::string(column - shown_from, ' '));
  placed.has_place_ = true;
  return placed;
}

void assertion_failed(const char* condition, const char* file, int line, const std::string& sentence) {
  throw InternalError(fmt::format("{}:{}: {}\n  (expected: {})", file, line, sentence, condition));
}

}  // namespace lowtide::engine
