#pragma once
/// The codes of names in VHLO's bytecode.

#include <cstdint>
#include <optional>
#include <string_view>

namespace lowtide::engine {

/// Enumerations: attributes whose values are words.
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

/// The code of a type without parameters: "f32", "ui8", "index".
std::optional<uint64_t> vhlo_type_code(std::string_view name);
/// The code of a word in an enumeration, such as "LT" in comparison directions.
std::optional<uint64_t> vhlo_word(VhloEnumeration enumeration, std::string_view word);

}  // namespace lowtide::engine
