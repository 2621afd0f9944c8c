#include "schedule/implied_edges.h"

#include <algorithm>
#include <array>

namespace lowtide::engine {
namespace {

constexpr int32_t kPanel = 512;  ///< nodes whose successors are found in one pass

/// A subset of a panel's nodes.
struct NodeSet {
  std::array<uint64_t, kPanel / 64> words{};
  void add(int32_t node) { words[static_cast<size_t>(node) / 64] |= uint64_t{1} << (node % 64); }
  bool has(int32_t node) const { return (words[static_cast<size_t>(node) / 64] >> (node % 64) & 1) != 0; }
  void add(const NodeSet& others) {
    for (size_t w = 0; w < words.size(); ++w) words[w] |= others.words[w];
  }
};

}  // namespace

void remove_implied_edges(std::vector<std::vector<int32_t>>& before) {
  const auto nodes = static_cast<int32_t>(before.size());
  // By panel: the last node that may have an implied edge to it. The edge to a node's nearest predecessor never is.
  std::vector<int32_t> last(static_cast<size_t>((nodes + kPanel - 1) / kPanel), -1);
  for (int32_t v = 0; v < nodes; ++v) {
    const std::vector<int32_t>& edges = before[v];
    for (size_t k = 0; k + 1 < edges.size(); ++k) last[edges[k] / kPanel] = v;
  }
  std::vector<NodeSet> behind;  // by node, from the panel's first on: its predecessors in the panel
  for (int32_t first = 0; first < nodes; first += kPanel) {
    const int32_t end = last[first / kPanel];
    behind.assign(static_cast<size_t>(std::max(0, end + 1 - first)), {});
    for (int32_t v = first; v <= end; ++v) {
      std::vector<int32_t>& edges = before[v];
      NodeSet& reached = behind[v - first];
      const auto begin = std::ranges::lower_bound(edges, first);
      for (auto e = begin; e != edges.end(); ++e) reached.add(behind[*e - first]);
      const auto in_panel = [&](int32_t e) { return e >= first && e < first + kPanel; };
      std::erase_if(edges, [&](int32_t e) { return in_panel(e) && reached.has(e - first); });
      for (const int32_t e : edges) {
        if (in_panel(e)) reached.add(e - first);
      }
    }
  }
}

}  // namespace lowtide::engine
