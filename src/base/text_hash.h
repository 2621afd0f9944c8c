#pragma once
/// Names for texts in caches.

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace lowtide::engine {

/// 128 bits that stand for a text.
struct TextHash {
  uint64_t low = 0, high = 0;
  auto operator<=>(const TextHash&) const = default;
};
TextHash hash_text(std::string_view text);

/// Names the very program or shared library that this code is part of: what it leaves in a cache means nothing to
/// another. Empty: the linker left no note.
const std::string& build_id();

}  // namespace lowtide::engine
