#include "base/near_words.h"

#include <algorithm>
#include <cctype>
#include <tuple>

namespace lowtide::engine {
namespace {

constexpr size_t kLongest = 200;  ///< longer words are cut before they are compared

std::string folded(std::string_view word) {
  std::string out;
  for (const char c : word.substr(0, kLongest)) {
    out += c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

}  // namespace

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool traded = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (traded) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

std::vector<std::string> near_words(std::string_view word, const std::vector<std::string>& known, size_t most) {
  const std::string wanted = folded(word);
  if (wanted.empty()) return {};
  std::vector<std::tuple<size_t, std::string>> found;
  for (const std::string& each : known) {
    const std::string other = folded(each);
    const size_t distance = edit_distance(wanted, other);
    const size_t letters = std::max(wanted.size(), other.size());
    // Up to two letters of a short word, or a third of a long one, but less than half of it.
    const bool close = distance <= std::max<size_t>(2, letters / 3) && 2 * distance < letters;
    const bool part = wanted.size() >= 3 && other.find(wanted) != std::string::npos;
    if (close || part) found.emplace_back(distance, each);
  }
  std::ranges::stable_sort(found, {}, [](const auto& each) { return std::get<0>(each); });
  std::vector<std::string> words;
  for (auto& [distance, each] : found) {
    if (words.size() < most && std::ranges::find(words, each) == words.end()) words.push_back(std::move(each));
  }
  return words;
}

std::string did_you_mean(const std::vector<std::string>& words) {
  if (words.empty()) return "";
  std::string text = "; did you mean " + words.front();
  for (size_t i = 1; i < words.size(); ++i) text += (i + 1 < words.size() ? ", " : " or ") + words[i];
  return text + "?";
}

}  // namespace lowtide::engine
