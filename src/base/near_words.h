#pragma once
/// Words that a user may have meant, found by edit distance.

#include <string>
#include <string_view>
#include <vector>

namespace lowtide::engine {

/// The number of letters inserted, removed, replaced, or swapped with their neighbour to get from one word to the
/// other.
size_t edit_distance(std::string_view a, std::string_view b);

/// The words in `known` that are close to `word`, or contain it; the closest first, at most `most`. Case, and `-` or
/// `_`, make no difference.
std::vector<std::string> near_words(std::string_view word, const std::vector<std::string>& known, size_t most = 3);

/// "; did you mean a, b or c?", or empty if there are no words.
std::string did_you_mean(const std::vector<std::string>& words);

}  // namespace lowtide::engine
