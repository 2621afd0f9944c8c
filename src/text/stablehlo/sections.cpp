#include "text/stablehlo/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "ops/text_cursor.h"

namespace lowtide::engine {

Status choose_section(std::string& text, int64_t number, const std::string& name) {
  constexpr std::string_view kBorder = "// -----";
  std::vector<std::pair<size_t, size_t>> sections;
  size_t begin = 0;
  const auto close = [&](size_t end) {
    const std::string_view section = std::string_view(text).substr(begin, end - begin);
    if (skip_blank(section, 0) < section.size()) sections.emplace_back(begin, end);
  };
  for (size_t at = text.find(kBorder); at != std::string::npos; at = text.find(kBorder, at + 1)) {
    if (at > 0 && text[at - 1] != '\n') continue;
    close(at);
    begin = at;
  }
  close(text.size());
  const auto count = static_cast<int64_t>(sections.size());
  if (number == 0 && count > 1) {
    return Status::input(fmt::format("{}: {} programs with '// -----' between them; name one: {}#1 to {}#{}", name,
                                     count, name, name, count));
  }
  if (number > count || (number == 0 && count == 0)) {
    return Status::input(fmt::format("{}: there is no program {} among {}", name, number, count));
  }
  const auto [first, last] = sections[std::max<int64_t>(number, 1) - 1];
  for (size_t i = 0; i < text.size(); ++i) {
    if ((i < first || i >= last) && text[i] != '\n') text[i] = ' ';
  }
  return {};
}

}  // namespace lowtide::engine
