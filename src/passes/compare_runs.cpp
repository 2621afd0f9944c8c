#include "passes/compare_runs.h"

#include <fmt/format.h>

#include <algorithm>

#include "interp/compare.h"
#include "interp/interpreter.h"

namespace lowtide {
namespace {

/// What another order of sums may cause, relative to the largest value of the array.
Tolerance tolerance_of(const Literal& array, Numerics numerics) {
  if (numerics == Numerics::kExact || numerics == Numerics::kValueExact || !array.shape().is_array()) return {};
  const int bits = type_bits(array.shape().type) / (is_complex(array.shape().type) ? 2 : 1);
  return {0, bits >= 64 ? 1e-12 : bits >= 32 ? 1e-5 : bits >= 16 ? 2e-2 : 0.25};
}

std::string difference_of(const Literal& before, const Literal& after, Numerics numerics, const std::string& name) {
  const bool same = same_shape(before.shape(), after.shape()) && before.known() && after.known();
  if (same && std::ranges::equal(before.bytes(), after.bytes())) return "";
  const Comparison comparison = compare(after, before, tolerance_of(before, numerics), name);
  if (!comparison.agrees()) return comparison.first;
  if (numerics != Numerics::kExact) return "";
  return name + ": the same values in other bits (signed zeros, denormals or NaN)";
}

}  // namespace

Result<std::string> difference_of_runs(const Module& before, const Module& after, Numerics numerics, uint64_t seed) {
  LT_ASSIGN_OR_RETURN(const std::vector<Value> expected, interpret(before, seeded_arguments(before, seed)));
  const auto got = interpret(after, seeded_arguments(after, seed));
  if (!got.ok()) return "after the rewrite it doesn't run: " + got.status().message();
  const std::vector<Value>& results = *got;
  if (expected.size() != results.size()) return fmt::format("{} results became {}", expected.size(), results.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    std::string difference = difference_of(*expected[i], *results[i], numerics, fmt::format("out{}", i));
    if (!difference.empty()) return difference;
  }
  return std::string();
}

}  // namespace lowtide
