#include "schedule/order.h"

#include <algorithm>
#include <numeric>
#include <queue>

namespace lowtide::engine {
namespace {

constexpr double kLargest = 1e25;  ///< estimates grow without bound, since shared operands count at every use

int64_t bytes_of(const WorkGraph& graph, const std::vector<int32_t>& values) {
  int64_t sum = 0;
  for (const int32_t v : values) sum += graph.bytes[v];
  return sum;
}

/// Operands first, those that need most memory beyond their result first. Roots have no users, in the given order.
std::vector<int32_t> depth_first(const WorkGraph& graph) {
  std::vector<double> peak(graph.size()), left(graph.size());
  std::vector<std::vector<int32_t>> operands = graph.before;
  for (size_t n = 0; n < graph.size(); ++n) {
    const auto gain = [&](int32_t o) { return peak[o] - left[o]; };
    std::stable_sort(operands[n].begin(), operands[n].end(), [&](int32_t a, int32_t b) { return gain(a) > gain(b); });
    double held = 0, most = 0;
    for (const int32_t o : operands[n]) {
      most = std::max(most, held + peak[o]);
      held += left[o];
    }
    const auto makes = static_cast<double>(bytes_of(graph, graph.writes[n]));
    peak[n] = std::min(kLargest, std::max(most, held + makes + static_cast<double>(graph.inside[n])));
    left[n] = std::min(kLargest, makes);
  }
  std::vector<int32_t> order;
  std::vector<size_t> next(graph.size(), 0);
  std::vector<bool> seen(graph.size(), false);
  std::vector<int32_t> stack;
  for (size_t root = 0; root < graph.size(); ++root) {
    if (!graph.after[root].empty()) continue;
    stack.push_back(static_cast<int32_t>(root));
    seen[root] = true;
    while (!stack.empty()) {
      const auto n = static_cast<size_t>(stack.back());
      if (next[n] == operands[n].size()) {
        order.push_back(stack.back());
        stack.pop_back();
        continue;
      }
      const int32_t o = operands[n][next[n]++];
      if (seen[o]) continue;
      seen[o] = true;
      stack.push_back(o);
    }
  }
  return order;
}

/// List scheduling: the ready node with the least growth of live bytes goes next; ties in the given order. Growth
/// changes only for nodes that share a value with the node just taken; stale entries go back into the queue.
class ListSchedule {
 public:
  ListSchedule(const WorkGraph& graph, bool backwards) : graph_(graph), backwards_(backwards) {
    readers_.resize(graph.bytes.size());
    writer_.assign(graph.bytes.size(), kNoId);
    for (size_t n = 0; n < graph.size(); ++n) {
      for (const int32_t v : graph.reads[n]) readers_[v].push_back(static_cast<int32_t>(n));
      for (const int32_t v : graph.writes[n]) writer_[v] = static_cast<int32_t>(n);
    }
    left_.resize(graph.bytes.size());
    for (size_t v = 0; v < left_.size(); ++v) left_[v] = static_cast<int32_t>(readers_[v].size());
    held_.assign(graph.bytes.size(), false);
    for (size_t v = 0; v < held_.size(); ++v) held_[v] = backwards_ && graph.stays[v];
  }

  std::vector<int32_t> run() {
    const auto& waits = backwards_ ? graph_.after : graph_.before;
    const auto& frees = backwards_ ? graph_.before : graph_.after;
    std::vector<size_t> waiting(graph_.size());
    for (size_t n = 0; n < graph_.size(); ++n) {
      waiting[n] = waits[n].size();
      if (waiting[n] == 0) offer(static_cast<int32_t>(n));
    }
    ready_.assign(graph_.size(), false);
    taken_.assign(graph_.size(), false);
    for (size_t n = 0; n < graph_.size(); ++n) ready_[n] = waiting[n] == 0;
    std::vector<int32_t> order;
    while (!queue_.empty()) {
      const auto [growth, rank, n] = queue_.top();
      queue_.pop();
      if (taken_[n]) continue;
      if (growth != growth_of(n)) {
        offer(n);
        continue;
      }
      taken_[n] = true;
      order.push_back(n);
      take(n);
      for (const int32_t f : frees[n]) {
        if (--waiting[f] > 0) continue;
        ready_[f] = true;
        offer(f);
      }
    }
    if (backwards_) std::reverse(order.begin(), order.end());
    return order;
  }

 private:
  int64_t growth_of(int32_t n) const {
    int64_t growth = 0;
    const auto node = static_cast<size_t>(n);
    if (backwards_) {  // its results die, its operands must live from here on
      for (const int32_t v : graph_.writes[node]) growth -= held_[v] ? graph_.bytes[v] : 0;
      for (const int32_t v : graph_.reads[node]) {
        growth += held_[v] || writer_[v] == kNoId ? 0 : graph_.bytes[v];
      }
      return growth;
    }
    for (const int32_t v : graph_.writes[node]) growth += graph_.bytes[v];
    for (const int32_t v : graph_.reads[node]) {
      growth -= left_[v] == 1 && !graph_.stays[v] ? graph_.bytes[v] : 0;
    }
    return growth;
  }

  void offer(int32_t n) { queue_.push({growth_of(n), backwards_ ? -n : n, n}); }

  void take(int32_t n) {
    const auto node = static_cast<size_t>(n);
    for (const int32_t v : graph_.reads[node]) {
      const auto value = static_cast<size_t>(v);
      const bool changes = backwards_ ? !held_[value] : left_[value] <= 3;
      --left_[value];
      held_[value] = true;
      if (!changes || readers_[value].size() > 64) continue;  // values with many readers hardly matter
      for (const int32_t r : readers_[value]) {
        if (ready_[r] && !taken_[r]) offer(r);
      }
    }
  }

  struct Entry {
    int64_t growth;
    int32_t rank, node;
    bool operator<(const Entry& other) const {
      return growth != other.growth ? growth > other.growth : rank > other.rank;
    }
  };

  const WorkGraph& graph_;
  const bool backwards_;
  std::vector<std::vector<int32_t>> readers_;
  std::vector<int32_t> writer_, left_;
  std::vector<bool> held_, ready_, taken_;
  std::priority_queue<Entry> queue_;
};

/// Each node directly before the first node that needs it.
std::vector<int32_t> late(const WorkGraph& graph) {
  std::vector<int64_t> rank(graph.size());
  const auto count = static_cast<int64_t>(graph.size());
  for (size_t n = graph.size(); n-- > 0;) {
    int64_t first = INT64_MAX;
    for (const int32_t a : graph.after[n]) first = std::min(first, rank[a]);
    // Nodes that nothing needs keep their given order; gaps between their ranks are for the others.
    rank[n] = graph.after[n].empty() ? static_cast<int64_t>(n) * (count + 1) : first - 1;
  }
  std::vector<int32_t> order(graph.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return rank[a] < rank[b]; });
  return order;
}

}  // namespace

std::vector<int32_t> make_order(const WorkGraph& graph, OrderKind kind) {
  std::vector<int32_t> order;
  switch (kind) {
    case OrderKind::kGiven:
      order.resize(graph.size());
      std::iota(order.begin(), order.end(), 0);
      break;
    case OrderKind::kDepthFirst: order = depth_first(graph); break;
    case OrderKind::kByFreed: order = ListSchedule(graph, false).run(); break;
    case OrderKind::kBackwards: order = ListSchedule(graph, true).run(); break;
    case OrderKind::kLate: order = late(graph); break;
  }
  LT_ASSERT(order.size() == graph.size(), "an order leaves work out");
  return order;
}

}  // namespace lowtide::engine
