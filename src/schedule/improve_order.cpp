#include "schedule/improve_order.h"

#include <algorithm>

namespace lowtide::engine {
namespace {

class ImproveOrder {
 public:
  ImproveOrder(const WorkGraph& graph, std::vector<int32_t> order, int64_t budget)
      : graph_(graph),
        order_(std::move(order)),
        budget_(budget),
        writer_(graph.bytes.size(), kNoId),
        readers_(graph.bytes.size()) {
    for (size_t n = 0; n < graph.size(); ++n) {
      for (const int32_t v : graph.writes[n]) writer_[v] = static_cast<int32_t>(n);
      for (const int32_t v : graph.reads[n]) readers_[v].push_back(static_cast<int32_t>(n));
    }
  }

  std::vector<int32_t> run() {
    peak_ = modelled_peak(graph_, order_);
    while (budget_ > 0 && step()) {
    }
    return std::move(order_);
  }

 private:
  /// Does one move that lowers the peak; false if there is none.
  bool step() {
    place();
    std::vector<int32_t> across;
    for (size_t v = 0; v < writer_.size(); ++v) {
      if (graph_.bytes[v] > 0 && alive_at(static_cast<int32_t>(v), peak_.at)) across.push_back(static_cast<int32_t>(v));
    }
    std::stable_sort(across.begin(), across.end(),
                     [&](int32_t a, int32_t b) { return graph_.bytes[a] > graph_.bytes[b]; });
    for (const int32_t v : across) {
      if (budget_ <= 0) return false;
      if (writer_[v] != kNoId && try_order(delayed(writer_[v]))) return true;
      if (!graph_.stays[v] && try_advanced(v)) return true;
    }
    return false;
  }

  void place() {
    position_.resize(order_.size());
    for (size_t p = 0; p < order_.size(); ++p) position_[order_[p]] = static_cast<int32_t>(p);
  }
  int32_t position(int32_t n) const { return position_[n]; }

  bool alive_at(int32_t v, int32_t at) const {
    const int32_t writer = writer_[v];
    if (writer != kNoId && position(writer) >= at) return false;
    if (graph_.stays[v]) return true;
    return std::any_of(readers_[v].begin(), readers_[v].end(), [&](int32_t r) { return position(r) > at; });
  }

  int32_t first_after(int32_t n) const {
    auto first = static_cast<int32_t>(order_.size());
    for (const int32_t a : graph_.after[n]) first = std::min(first, position(a));
    return first;
  }

  /// Moves the node, and what only it needs, directly before its first reader after the peak; empty: impossible.
  std::vector<int32_t> delayed(int32_t n) const {
    const int32_t target = first_after(n);
    if (target <= peak_.at || target >= static_cast<int32_t>(order_.size())) return {};
    std::vector<bool> moves(order_.size(), false);
    moves[position(n)] = true;
    // Backward over the order: every user of a node comes after it.
    for (int32_t p = position(n) - 1; p >= std::max(0, position(n) - kReach); --p) {
      const auto& after = graph_.after[order_[p]];
      moves[p] =
          !after.empty() && std::all_of(after.begin(), after.end(), [&](int32_t a) { return moves[position(a)]; });
    }
    return moved(moves, target);
  }

  /// Moves the readers of a value before the peak; if their results are about as large as the value, also the readers
  /// of these, and so on: a product that is summed over devices becomes small only when a part is cut out.
  bool try_advanced(int32_t v) {
    std::vector<int32_t> all = readers_[v];
    size_t followed = 0;
    while (all.size() <= kMostAdvanced) {
      if (try_order(advanced(all))) return true;
      const size_t before = all.size();
      for (; followed < before; ++followed) {
        for (const int32_t made : graph_.writes[all[followed]]) {
          const auto value = static_cast<size_t>(made);
          if (2 * graph_.bytes[value] < graph_.bytes[v] || graph_.stays[value]) continue;
          for (const int32_t reader : readers_[value]) {
            if (std::ranges::find(all, reader) == all.end()) all.push_back(reader);
          }
        }
      }
      if (all.size() == before || budget_ <= 0) return false;
    }
    return false;
  }

  /// Moves the readers, with nodes after the peak that they need, directly before the peak; empty if they need what is
  /// computed there.
  std::vector<int32_t> advanced(const std::vector<int32_t>& readers) const {
    std::vector<bool> moves(order_.size(), false);
    int32_t last = 0;
    for (const int32_t r : readers) {
      if (position(r) <= peak_.at) continue;
      moves[position(r)] = true;
      last = std::max(last, position(r));
    }
    if (last == 0 || last - peak_.at > kReach) return {};
    for (int32_t p = last; p > peak_.at; --p) {
      if (!moves[p]) continue;
      for (const int32_t b : graph_.before[order_[p]]) {
        if (position(b) == peak_.at) return {};
        if (position(b) > peak_.at) moves[position(b)] = true;
      }
    }
    return moved(moves, peak_.at);
  }

  /// The order with the marked nodes, in their order, directly before position `target`.
  std::vector<int32_t> moved(const std::vector<bool>& moves, int32_t target) const {
    std::vector<int32_t> out;
    out.reserve(order_.size());
    const auto append = [&](size_t from, size_t to, bool which) {
      for (size_t p = from; p < to; ++p) {
        if (moves[p] == which) out.push_back(order_[p]);
      }
    };
    const auto t = static_cast<size_t>(target);
    append(0, t, false);
    append(0, order_.size(), true);
    append(t, order_.size(), false);
    return out;
  }

  bool try_order(std::vector<int32_t> order) {
    if (order.empty()) return false;
    --budget_;
    const ModelledPeak peak = modelled_peak(graph_, order);
    if (peak.bytes >= peak_.bytes) return false;
    peak_ = peak;
    order_ = std::move(order);
    return true;
  }

  static constexpr int32_t kReach = 200;      ///< positions that one move examines
  static constexpr size_t kMostAdvanced = 4;  ///< readers that one move brings forward
  const WorkGraph& graph_;
  std::vector<int32_t> order_, position_;
  int64_t budget_;
  ModelledPeak peak_;
  std::vector<int32_t> writer_;
  std::vector<std::vector<int32_t>> readers_;
};

}  // namespace

std::vector<int32_t> improve_order(const WorkGraph& graph, std::vector<int32_t> order, int64_t budget) {
  return ImproveOrder(graph, std::move(order), budget).run();
}

}  // namespace lowtide::engine
