#include "codegen/rows_in_lanes.h"

#include <algorithm>
#include <cstdlib>

#include "codegen/shape_free.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kFewestTerms = 4;  ///< for fewer, reading every element by itself takes no longer
constexpr int64_t kMostTerms = 64;   ///< longer rows fill lanes by themselves
constexpr size_t kMostItems = 16;    ///< of one term, whose code is repeated for each element of a block
constexpr size_t kMostLoads = 2;     ///< each takes a block of registers

/// Does the load read element `constant + term + step * lane` of a row, with the same other terms in all lanes?
bool reads_a_row(const Nest& nest, const Node& load, int32_t inner, int32_t lanes, const std::vector<bool>& varying) {
  const NodeId term_index = nest.loops[inner].index;
  const NodeId lane_index = nest.loops[lanes].index;
  const bool others_stay = std::ranges::all_of(load.affine.terms, [&](const Affine::Term& term) {
    const bool is_own = term.atom == term_index || term.atom == lane_index;
    return is_own || (!varying[term.atom] && !is_given(term.coefficient));
  });
  const int64_t step = load.affine.coefficient_of(lane_index);
  return others_stay && load.affine.coefficient_of(term_index) == 1 && !is_given(step) && std::llabs(step) > 1;
}

}  // namespace

std::vector<NodeId> loads_in_rows(const Nest& nest, int32_t inner, int32_t lanes, const std::vector<bool>& varying,
                                  bool avx512) {
  const Loop& loop = nest.loops[inner];
  const std::vector<Item>& items = nest.blocks[loop.body].items;
  if (loop.kind == LoopKind::kWhile || is_given(loop.extent)) return {};
  if (loop.extent < kFewestTerms || loop.extent > kMostTerms) return {};
  if (items.size() > kMostItems) return {};
  std::vector<NodeId> loads;
  for (const Item& item : items) {
    if (item.kind != Item::kNode) return {};
    const Node& node = nest.nodes[item.id];
    if (node.kind != NodeKind::kLoad || node.type == ElementType::kPred) continue;
    if (stored_bytes(node.type) < (avx512 ? 2 : 4)) continue;
    if (reads_a_row(nest, node, inner, lanes, varying)) loads.push_back(item.id);
  }
  return loads.size() > kMostLoads ? std::vector<NodeId>() : loads;
}

}  // namespace lowtide::engine
