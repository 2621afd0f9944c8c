#include "text/hlo/suggest.h"

#include <algorithm>
#include <span>

#include "base/near_words.h"

namespace lowtide::engine {
namespace {

constexpr size_t kLongestWord = 64;         // longer words aren't typing mistakes
constexpr size_t kMostCandidates = 20'000;  // limits the time that an error message takes

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

}  // namespace lowtide::engine
