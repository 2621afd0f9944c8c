#include "passes/compare_runs.h"

#include <fmt/format.h>

#include <algorithm>

#include "interp/compare.h"
#include "interp/interpreter.h"
#include "ops/host_call.h"

namespace lowtide::engine {
namespace {

int bits_of(ElementType type) { return type_bits(type) / (is_complex(type) ? 2 : 1); }

/// Width of the narrowest floats that the module computes with: wider results are no more accurate.
int narrowest_bits(const Module& module) {
  int bits = 64;
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      const bool floats = i->shape.is_array() && (is_floating(i->shape.type) || is_complex(i->shape.type));
      if (floats) bits = std::min(bits, bits_of(i->shape.type));
    }
  }
  return bits;
}

/// The largest difference that another order of sums may cause, relative to the array's largest value.
Tolerance tolerance_of(const Literal& array, Numerics numerics, int narrowest) {
  if (numerics == Numerics::kExact || numerics == Numerics::kValueExact || !array.shape().is_array()) return {};
  const int bits = std::min(bits_of(array.shape().type), narrowest);
  return {0, bits >= 64 ? 1e-12 : bits >= 32 ? 1e-5 : bits >= 16 ? 2e-2 : 0.25};
}

std::string difference_of(const Literal& before, const Literal& after, Numerics numerics, const Tolerance& tolerance,
                          const std::string& name) {
  const bool same = same_shape(before.shape(), after.shape()) && before.known() && after.known();
  if (same && std::ranges::equal(before.bytes(), after.bytes())) return "";
  const Comparison comparison = compare(after, before, tolerance, name);
  if (!comparison.agrees()) return comparison.first;
  if (numerics != Numerics::kExact) return "";
  return name + ": the same values in other bits (signed zeros, denormals or NaN)";
}

}  // namespace

Result<std::string> difference_of_runs(const Module& before, const Module& after, Numerics numerics, uint64_t seed) {
  LT_RETURN_IF_ERROR(refuse_to_repeat(before));
  LT_ASSIGN_OR_RETURN(const std::vector<Value> expected, interpret(before, seeded_arguments(before, seed)));
  const auto got = interpret(after, seeded_arguments(after, seed));
  if (!got.ok()) return "after the rewrite it doesn't run: " + got.status().message();
  const std::vector<Value>& results = *got;
  if (expected.size() != results.size()) return fmt::format("{} results became {}", expected.size(), results.size());
  const int narrowest = narrowest_bits(before);
  for (size_t i = 0; i < expected.size(); ++i) {
    const Tolerance tolerance = tolerance_of(*expected[i], numerics, narrowest);
    std::string difference = difference_of(*expected[i], *results[i], numerics, tolerance, fmt::format("out{}", i));
    if (!difference.empty()) return difference;
  }
  return std::string();
}

}  // namespace lowtide::engine
