#pragma once
/// "did you mean ...": the nearest known word to an unknown one.

#include <string>
#include <string_view>
#include <vector>

namespace lowtide::engine {

/// `, did you mean 'add'?`, or an empty text if no candidate is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace lowtide::engine
