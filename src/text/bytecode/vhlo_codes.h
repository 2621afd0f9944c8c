#pragma once
/// The numbers that VHLO's bytecode has for names.

#include <cstdint>
#include <optional>
#include <string_view>

namespace lowtide::engine {

/// Kinds of attributes that are words.
enum class VhloEnumeration : uint64_t {
  kDirection = 3,
  kComparison = 4,
  kApi = 5,
  kFft = 7,
  kPrecision = 11,
  kAlgorithm = 12,
  kDistribution = 13,
  kTranspose = 16,
  kAccuracyMode = 19,
};

/// "f32", "ui8", "index": types that are nothing but their names.
std::optional<uint64_t> vhlo_type_code(std::string_view name);
/// "LT" among directions of comparisons.
std::optional<uint64_t> vhlo_word(VhloEnumeration enumeration, std::string_view word);

}  // namespace lowtide::engine
