#include "ops/attention_terms.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "ir/attributes.h"

namespace lowtide::engine {
namespace {

constexpr std::array<std::string_view, 3> kAttention = {"fused_attn", "fmha", "flash_attention"};
constexpr std::array<std::string_view, 3> kBackward = {"backward", "Backward", "bwd"};
constexpr double kForwardProducts = 2;   ///< the scores, and the weighted sum of values
constexpr double kBackwardProducts = 5;  ///< the scores again, and the gradients of both products

bool names_one_of(std::string_view target, const auto& words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return target.find(word) != std::string_view::npos; });
}

}  // namespace

double attention_terms(const Instruction& i) {
  const auto* call = i.if_as<CustomCallAttributes>();
  if (call == nullptr || i.operands.size() < 2 || !names_one_of(call->target, kAttention)) return 0;
  // Queries and keys are (batch, positions, heads, depth) or (batch, heads, positions, depth), with more positions than
  // heads; packed ones have one more dimension.
  const Shape &queries = i.operand(0).shape, &keys = i.operand(1).shape;
  if (!queries.is_array() || !keys.is_array() || queries.rank() < 4 || keys.rank() < 4) return 0;
  const double elements = static_cast<double>(element_count(queries)) / (queries.rank() > 4 ? 3 : 1);
  const auto positions = static_cast<double>(*std::max_element(keys.dims.begin() + 1, keys.dims.end() - 1));
  return elements * positions * (names_one_of(call->target, kBackward) ? kBackwardProducts : kForwardProducts);
}

}  // namespace lowtide::engine
