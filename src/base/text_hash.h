#pragma once
/// Hashes of texts, for keys of caches.

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace lowtide::engine {

/// A text's hash of 128 bits.
struct TextHash {
  uint64_t low = 0, high = 0;
  auto operator<=>(const TextHash&) const = default;
};
TextHash hash_text(std::string_view text);

/// Identifies the build of the program or shared library that contains this code: cache entries are valid only for one
/// build. Empty: the linker left no note.
const std::string& build_id();

}  // namespace lowtide::engine
