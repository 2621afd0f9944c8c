#pragma once
/// What every module that some reader accepted must stand: verifying, printing to a fixpoint, accounts, passes, and
/// running where that is cheap. Any failure aborts with a sentence.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ir/module.h"

namespace lowtide::engine {

void exercise(const Module& module);

/// Ends the process with the sentence unless the condition holds.
void must(bool condition, const std::string& sentence);

inline std::string_view text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace lowtide::engine
