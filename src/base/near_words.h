#pragma once
/// Words that somebody may have meant: by how few letters they differ.

#include <string>
#include <string_view>
#include <vector>

namespace lowtide::engine {

/// Letters inserted, removed, replaced, or traded with their neighbour, to get from one word to the other.
size_t edit_distance(std::string_view a, std::string_view b);

/// Those of `known` that are close to `word`, or that it begins, or that hold it as a part; the closest first, `most`
/// of them at most. Case and `-`, `_` aside.
std::vector<std::string> near_words(std::string_view word, const std::vector<std::string>& known, size_t most = 3);

/// "; did you mean a, b or c?", or nothing where there are none.
std::string did_you_mean(const std::vector<std::string>& words);

}  // namespace lowtide::engine
