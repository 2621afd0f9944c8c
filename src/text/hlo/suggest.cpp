#include "text/hlo/suggest.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace lowtide {
namespace {

constexpr size_t kLongestWord = 64;         // longer ones are no typing mistakes
constexpr size_t kMostCandidates = 20'000;  // a fault shall not take long to explain

/// Insertions, deletions and replacements between two words.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates) {
  if (word.empty() || word.size() > kLongestWord) return "";
  const size_t tolerated = std::max<size_t>(1, word.size() / 3);
  size_t best = tolerated + 1;
  std::string_view nearest;
  for (const std::string_view candidate : std::span(candidates).first(std::min(candidates.size(), kMostCandidates))) {
    const size_t apart = std::max(candidate.size(), word.size()) - std::min(candidate.size(), word.size());
    if (apart >= best || candidate.size() > kLongestWord) continue;
    const size_t distance = edit_distance(word, candidate);
    if (distance >= best) continue;
    best = distance;
    nearest = candidate;
  }
  return nearest.empty() ? "" : ", did you mean '" + std::string(nearest) + "'?";
}

}  // namespace lowtide
