#include "report/columns.h"

#include <algorithm>
#include <array>
#include <utility>

namespace lowtide::engine {
namespace {

constexpr std::array<std::pair<std::string_view, char>, 24> kPlain = {{
    {"·", '-'}, {"→", '>'}, {"…", '~'}, {"×", 'x'}, {"≤", '<'}, {"≥", '>'}, {"▁", '.'}, {"▂", '.'},
    {"▃", ':'}, {"▄", ':'}, {"▅", '+'}, {"▆", '+'}, {"▇", '#'}, {"█", '#'}, {"┤", '|'}, {"┼", '+'},
    {"─", '-'}, {"│", '|'}, {"└", '`'}, {"├", '|'}, {"−", '-'}, {"▲", '^'}, {"┴", '+'}, {"╵", '\''},
}};

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Byte length of the first `characters` characters.
size_t bytes_of(std::string_view text, size_t characters) {
  size_t i = 0;
  while (i < text.size() && characters > 0) {
    ++i;
    while (i < text.size() && is_continuation(text[i])) ++i;
    --characters;
  }
  return i;
}

}  // namespace

size_t display_width(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation(c); }));
}

std::string fit(std::string_view text, size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return "";
  return std::string(text.substr(0, bytes_of(text, width - 1))) + "…";
}

std::string fit_end(std::string_view text, size_t width) {
  const size_t all = display_width(text);
  if (all <= width) return std::string(text);
  if (width == 0) return "";
  return "…" + std::string(text.substr(bytes_of(text, all - width + 1)));
}

std::string fit_middle(std::string_view text, size_t width) {
  const size_t all = display_width(text);
  if (all <= width) return std::string(text);
  const size_t head = width * 2 / 5;
  if (width < head + 2) return fit(text, width);
  return std::string(text.substr(0, bytes_of(text, head))) + "…" +
         std::string(text.substr(bytes_of(text, all - (width - head - 1))));
}

std::string pad_right(std::string_view text, size_t width) {
  std::string padded = fit(text, width);
  padded.append(width - std::min(width, display_width(padded)), ' ');
  return padded;
}

std::string pad_left(std::string_view text, size_t width) {
  std::string cut = fit(text, width);
  return std::string(width - std::min(width, display_width(cut)), ' ') + cut;
}

std::vector<std::string> wrap(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const size_t space = std::min(text.find(' '), text.size());
    std::string word = fit(text.substr(0, space), width);
    text.remove_prefix(std::min(space + 1, text.size()));
    if (!line.empty() && display_width(line) + 1 + display_width(word) > width) {
      lines.push_back(std::move(line));
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

std::string to_ascii(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size();) {
    const size_t length = bytes_of(text.substr(i), 1);
    const std::string_view character = text.substr(i, length);
    const auto found =
        std::find_if(kPlain.begin(), kPlain.end(), [&](const auto& row) { return row.first == character; });
    plain += length == 1 ? character[0] : found != kPlain.end() ? found->second : '?';
    i += length;
  }
  return plain;
}

}  // namespace lowtide::engine
