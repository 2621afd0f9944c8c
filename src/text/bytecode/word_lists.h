#pragma once
/// Lists of names as one text, with a blank before and after each name: " lhs rhs ".

#include <fmt/format.h>

#include <string_view>

namespace lowtide::engine {

inline bool has_word(std::string_view words, std::string_view word) {
  return words.find(fmt::format(" {} ", word)) != words.npos;
}

}  // namespace lowtide::engine
