#include "passes/stream/between_passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace lowtide::engine {
namespace {

constexpr double kJustAbove = 1.001;  ///< covers the rounding of written prices
constexpr int kMostSteps = 400;       ///< values dropped one after the other

class Keeper {
 public:
  Keeper(const ValueGraph& graph, const std::vector<ValueState>& states, StreamCluster& cluster)
      : graph_(graph), cluster_(cluster), ns_(static_cast<size_t>(graph.size()), 0), seen_(ns_.size(), 0) {
    for (const auto& [place, member] : cluster.members) {
      const ValueState state = states[place];
      const bool has_memory = state != ValueState::kVirtual && state != ValueState::kView;
      double& ns = ns_[place];
      ns = own_ns(graph.at(place), graph.target());
      if (has_memory) ns += bytes_at(place) * graph.target().cost().streamed_byte_ns();
      const bool is_output = cluster.outputs.lower_bound({place, 0}) != cluster.outputs.lower_bound({place + 1, 0});
      if (has_memory && !is_output && bytes_at(place) > 0) cluster.kept[place] = {{member.pass, cluster.passes - 1}};
    }
    trim(PassUses(graph_, cluster_));
  }

  /// Drops values step by step, while the time per byte is within the price; `seen` gets the price of each step.
  void drop_within(double ns_per_byte, const std::function<void(double, const PassUses&)>& seen = {}) {
    PassUses uses(graph_, cluster_);
    for (int step = 0; step < kMostSteps; ++step) {
      const std::optional<Drop> best = cheapest(uses);
      if (!best || best->ns > ns_per_byte * bytes_at(best->place)) return;
      const double price = best->ns / bytes_at(best->place);
      apply(*best, uses);
      trim(uses);
      if (seen) seen(price, uses);
    }
  }

 private:
  /// A value that is no longer kept from one pass until another.
  struct Drop {
    int32_t place = kNoId;
    size_t stay = 0;              ///< index among the value's
    int32_t until = 0, from = 0;  ///< kept up to one pass, and again from the other on, unless that is the last
    double ns = 0;                ///< for recomputing it
  };

  /// Bytes of a member's sliced arrays, all slices together.
  double bytes_at(int32_t place) const {
    double bytes = 0;
    const Dims& leaves = cluster_.members.at(place).leaves;
    for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
      if (leaves[leaf] >= 0) bytes += bytes_of(graph_, {place, static_cast<int32_t>(leaf)});
    }
    return bytes;
  }

  /// Of the values stored across the fullest pass, the one that is cheapest to recompute for its bytes: in each later
  /// pass that reads it, or in the first of those, which then keeps it for the others.
  std::optional<Drop> cheapest(const PassUses& uses) {
    const std::vector<double> load = stored_bytes_by_pass(graph_, cluster_, uses);
    const auto fullest = static_cast<int32_t>(std::ranges::max_element(load) - load.begin());
    std::optional<Drop> best;
    for (const auto& [place, stays] : cluster_.kept) {
      for (size_t k = 0; k < stays.size(); ++k) {
        if (stays[k].first > fullest || fullest > stays[k].last) continue;
        const auto offer = [&](Drop drop) {
          drop.place = place;
          drop.stay = k;
          if (!best || drop.ns / bytes_at(place) < best->ns / bytes_at(best->place)) best = drop;
        };
        const Stay stay = stays[k];
        Drop everywhere{.until = std::max(stay.first, fullest - 1), .from = stay.last};
        for (const int32_t pass : uses.readers(place)) {
          if (pass <= everywhere.until || pass > stay.last) continue;
          const double ns = again_ns(place, pass, uses);
          if (pass > fullest && pass < stay.last && everywhere.ns == 0)
            offer({.until = everywhere.until, .from = pass, .ns = ns});
          everywhere.ns += ns;
        }
        offer(everywhere);
      }
    }
    return best;
  }

  /// Time to compute the value and all that it needs that is neither stored before nor computed in the pass.
  double again_ns(int32_t place, int32_t pass, const PassUses& uses) {
    ++mark_;
    double ns = 0;
    std::vector<int32_t> open{place};
    while (!open.empty()) {
      const int32_t next = open.back();
      open.pop_back();
      if (std::exchange(seen_[next], mark_) == mark_ || uses.is_made_in(next, pass)) continue;
      ns += ns_[next];
      for (const ValueGraph::Read& read : graph_.reads(next)) {
        const GraphLeaf array{read.def, read.leaf};
        if (!cluster_.is_member(read.def) || cluster_.is_sum(array)) continue;
        if (!cluster_.is_stored_before(array, pass)) open.push_back(read.def);
      }
    }
    return ns;
  }

  void apply(const Drop& drop, PassUses& uses) {
    std::vector<Stay>& stays = cluster_.kept.at(drop.place);
    const Stay whole = stays[drop.stay];
    stays[drop.stay].last = drop.until;
    const auto after = stays.begin() + static_cast<std::ptrdiff_t>(drop.stay) + 1;
    if (drop.from < whole.last) stays.insert(after, Stay{drop.from, whole.last});
    for (const int32_t pass : std::vector<int32_t>(uses.readers(drop.place))) {
      if (pass > drop.until && pass <= whole.last) uses.look_again(graph_, cluster_, pass);
    }
  }

  /// Keeps no value longer than some pass reads it.
  void trim(const PassUses& uses) {
    for (auto& [place, stays] : cluster_.kept) {
      for (Stay& stay : stays) {
        int32_t last = stay.first;
        for (const int32_t pass : uses.readers(place)) {
          if (pass <= stay.last) last = std::max(last, pass);
        }
        stay.last = last;
      }
      std::erase_if(stays, [](const Stay& stay) { return stay.last <= stay.first; });
    }
    std::erase_if(cluster_.kept, [](const auto& entry) { return entry.second.empty(); });
  }

  const ValueGraph& graph_;
  StreamCluster& cluster_;
  std::vector<double> ns_;  ///< by place: for computing it once
  std::vector<int> seen_;
  int mark_ = 0;
};

}  // namespace

PassUses::PassUses(const ValueGraph& graph, const StreamCluster& cluster)
    : readers_(static_cast<size_t>(graph.size())),
      makers_(readers_.size()),
      made_(static_cast<size_t>(cluster.passes)) {
  for (int32_t pass = 0; pass < cluster.passes; ++pass) look_again(graph, cluster, pass);
}

void PassUses::look_again(const ValueGraph& graph, const StreamCluster& cluster, int32_t pass) {
  const auto note = [pass](std::vector<int32_t>& passes) {
    const auto at = std::ranges::lower_bound(passes, pass);
    if (at == passes.end() || *at != pass) passes.insert(at, pass);
  };
  std::vector<int32_t>& made = made_[pass];
  for (const int32_t place : made) {
    std::erase(makers_[place], pass);
    for (const ValueGraph::Read& read : graph.reads(place)) std::erase(readers_[read.def], pass);
  }
  made = members_of_pass(graph, cluster, pass);
  for (const int32_t place : made) note(makers_[place]);
  for (const int32_t place : made) {
    for (const ValueGraph::Read& read : graph.reads(place)) {
      if (!is_made_in(read.def, pass)) note(readers_[read.def]);
    }
  }
}

bool PassUses::is_made_in(int32_t place, int32_t pass) const {
  return std::ranges::binary_search(makers_[place], pass);
}

int32_t PassUses::last_reader(int32_t place, int32_t from) const {
  const auto& readers = readers_[place];
  return readers.empty() ? from : std::max(from, readers.back());
}

std::vector<double> stored_bytes_by_pass(const ValueGraph& graph, const StreamCluster& cluster, const PassUses& uses) {
  std::vector<double> bytes(static_cast<size_t>(cluster.passes), 0);
  const auto add = [&](GraphLeaf array, const Stay& stay) {
    for (int32_t pass = stay.first; pass <= stay.last; ++pass) bytes[pass] += bytes_of(graph, array);
  };
  for (const std::set<GraphLeaf>* all : {&cluster.outputs, &cluster.sums}) {
    for (const GraphLeaf& array : *all) {
      const int32_t first = cluster.members.at(array.place).pass;
      add(array,
          {first, is_read_outside(graph, cluster, array) ? cluster.passes - 1 : uses.last_reader(array.place, first)});
    }
  }
  for (const auto& [place, stays] : cluster.kept) {
    const Dims& leaves = cluster.members.at(place).leaves;
    for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
      for (const Stay& stay : stays) {
        if (leaves[leaf] >= 0) add({place, static_cast<int32_t>(leaf)}, stay);
      }
    }
  }
  return bytes;
}

void keep_between_passes(const ValueGraph& graph, const std::vector<ValueState>& states, StreamCluster& cluster,
                         double ns_per_byte) {
  Keeper(graph, states, cluster).drop_within(ns_per_byte);
}

std::vector<Keeping> keeping_choices(const ValueGraph& graph, const std::vector<ValueState>& states,
                                     StreamCluster cluster, size_t most) {
  struct Step {
    double price = 0, least = 0;  ///< highest so far; fewest bytes stored at the fullest pass
    std::map<int32_t, std::vector<Stay>> kept;
  };
  std::vector<Step> steps;
  Keeper(graph, states, cluster)
      .drop_within(std::numeric_limits<double>::infinity(), [&](double price, const PassUses& uses) {
        const std::vector<double> load = stored_bytes_by_pass(graph, cluster, uses);
        Step step{price, *std::ranges::max_element(load), cluster.kept};
        if (!steps.empty()) step.price = std::max(step.price, steps.back().price);
        if (!steps.empty()) step.least = std::min(step.least, steps.back().least);
        steps.push_back(std::move(step));
      });
  std::vector<Keeping> choices;
  if (steps.empty()) return choices;
  // Chooses steps with about equal ratios of stored bytes.
  const double most_bytes = std::max(steps.front().least, 1.0), least_bytes = std::max(steps.back().least, 1.0);
  const double ratio = std::pow(least_bytes / most_bytes, 1.0 / static_cast<double>(most));
  double bound = most_bytes * ratio;
  for (size_t k = 0; k < steps.size() && choices.size() < most; ++k) {
    const bool is_last = k + 1 == steps.size() || steps[k + 1].price > steps[k].price;  // the last step at its price
    if (!is_last || steps[k].least > bound * (1 + 1e-9)) continue;
    while (bound >= steps[k].least && ratio < 1) bound *= ratio;
    const double written = std::stod(fmt::format("{:.4g}", steps[k].price * kJustAbove));
    const auto within = std::ranges::find_if(steps, [&](const Step& step) { return step.price > written; });
    choices.push_back({written, std::prev(within)->kept});
  }
  return choices;
}

}  // namespace lowtide::engine
