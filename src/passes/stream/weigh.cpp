#include <algorithm>
#include <limits>

#include "analysis/evaluations.h"
#include "passes/stream/between_passes.h"
#include "passes/stream/walk.h"

namespace lowtide::engine {
namespace {

constexpr int32_t kForever = std::numeric_limits<int32_t>::max();

bool is_library_dot(const Instruction& i, const Target& target) {
  return i.opcode == Opcode::kDot && target.role_of(i) == OpRole::kLibrary;
}

class Weigher {
 public:
  Weigher(const ValueGraph& graph, const std::vector<ValueState>& states, const StreamCluster& cluster)
      : graph_(graph), cost_(graph.target().cost()), states_(states), cluster_(cluster) {}

  ClusterWeight weigh() {
    weigh_bytes();
    std::vector<bool> is_made(static_cast<size_t>(graph_.size()), false);
    for (int32_t pass = 0; pass < cluster_.passes; ++pass) {
      const std::vector<int32_t> made = members_of_pass(graph_, cluster_, pass);
      if (!made.empty()) weight_.ns_per_tile += 2 * cost_.kernel_start_ns();
      for (const int32_t place : made) {
        weigh_time(place, is_made[place]);
        is_made[place] = true;
      }
    }
    return weight_;
  }

 private:
  bool is_virtual(int32_t place) const { return states_[place] == ValueState::kVirtual; }
  bool is_stored(int32_t place) const { return !is_virtual(place) && states_[place] != ValueState::kView; }
  /// Is the array stored whole, across all tiles?
  bool is_whole(GraphLeaf array) const { return cluster_.outputs.contains(array) || cluster_.sums.contains(array); }

  /// The last member whose kernel reads a value; kForever if non-members read it, too.
  int32_t last_reader(GraphLeaf array) {
    if (graph_.is_result(array.place)) return kForever;
    const auto known = last_.find(array);
    if (known != last_.end()) return known->second;
    int32_t last = array.place;
    for (const ValueGraph::Read& read : graph_.users(array.place)) {
      if (read.leaf != array.leaf || !graph_.is_live(read.user)) continue;
      if (!cluster_.is_member(read.user)) return last_[array] = kForever;
      last = std::max(last, is_stored(read.user) ? read.user : last_reader({read.user, 0}));
    }
    return last_[array] = last;
  }

  /// Finds the most bytes that the cluster holds while it runs: without tiles, and tile by tile. Values that others
  /// keep live before and after it count in neither.
  void weigh_bytes() {
    double given = 0;  // bytes of values from outside that only members read
    // By place: bytes whose lifetimes begin and end there.
    std::vector<double> starts(static_cast<size_t>(graph_.size()), 0), ends(starts.size(), 0);
    const PassUses uses(graph_, cluster_);
    std::vector<double> kept = stored_bytes_by_pass(graph_, cluster_, uses);  // live across all tiles of a pass
    const auto keep = [&](int32_t place, double bytes) {
      for (int32_t pass = 0; pass <= uses.last_reader(place, 0); ++pass) kept[pass] += bytes;
    };
    std::set<GraphLeaf> seen;
    for (const auto& [place, member] : cluster_.members) {
      for (const ValueGraph::Read& read : graph_.reads(place)) {
        const GraphLeaf array{read.def, read.leaf};
        if (cluster_.is_member(read.def) || !seen.insert(array).second) continue;
        if (is_virtual(read.def)) {
          if (!is_made_anew(graph_, states_, cluster_, read.def)) keep(read.def, bytes_of(graph_, array));
          continue;
        }
        const int32_t last = last_reader(array);
        if (last == kForever || graph_.target().role_of(graph_.at(read.def)) == OpRole::kSource) continue;
        given += bytes_of(graph_, array);
        ends[last] += bytes_of(graph_, array);
        keep(read.def, bytes_of(graph_, array));
      }
    }
    for (const auto& [place, member] : cluster_.members) {
      for (size_t leaf = 0; leaf < member.leaves.size(); ++leaf) {
        const GraphLeaf array{place, static_cast<int32_t>(leaf)};
        if (const auto over = cluster_.consumed.find(array); over != cluster_.consumed.end()) {
          const int32_t from = over->second.place;
          const bool is_given = graph_.target().role_of(graph_.at(from)) == OpRole::kSource;
          // A parameter counts nowhere; any other array counts until it is overwritten.
          const int32_t last = is_given ? cluster_.passes - 1 : member.pass;
          const bool overwrites = is_given ? is_whole(array) : uses.last_reader(from, 0) <= member.pass;
          for (int32_t pass = member.pass; pass <= last && overwrites; ++pass) kept[pass] -= bytes_of(graph_, array);
          // Elementwise work and updates write over a parameter without tiles as well.
          const Instruction& made = graph_.at(place);
          if (is_given && (memory_class(made.opcode) == MemoryClass::kElementwise || has_update(made))) continue;
        }
        if (!is_stored(place) || member.leaves[leaf] == kWhole) continue;
        starts[place] += bytes_of(graph_, array);
        const int32_t last = last_reader(array);
        if (last != kForever) ends[last] += bytes_of(graph_, array);
      }
    }
    const double before = given;
    double live = given, most = given;
    for (const auto& [place, member] : cluster_.members) {
      const double own = starts[place], dying = ends[place];
      live += own;
      // An elementwise result may overwrite the operand that it reads last.
      const bool in_place = memory_class(graph_.at(place).opcode) == MemoryClass::kElementwise;
      const double both = live - (in_place && dying >= own ? own : 0);
      most = std::max(most, both);
      if (!is_whole({place, 0})) weight_.inner_bytes = std::max(weight_.inner_bytes, both - before);
      live -= dying;
    }
    weight_.hidden_bytes = most - *std::ranges::max_element(kept);
  }

  void weigh_time(int32_t place, bool again) {
    const Instruction& i = graph_.at(place);
    const StreamMember& member = cluster_.members.at(place);
    double ns = own_ns(i, graph_.target());
    if (is_stored(place) && member.loop == nullptr) ns += bytes_of(graph_, {place, 0}) * cost_.streamed_byte_ns();
    (again ? weight_.again_ns : weight_.ns) += ns;
    if (i.opcode == Opcode::kScatter && member.leaves[0] >= 0 && has_positions(i, member.leaves[0])) {
      weight_.ns_per_tile += cost_.skipping_ns(i);
    }
    const double kernels = member.loop == nullptr ? 1 : guessed_trips(i) * static_cast<double>(member.leaves.size());
    if (is_stored(place)) weight_.ns_per_tile += kernels * cost_.kernel_start_ns();
    for (size_t leaf = 0; leaf < member.leaves.size(); ++leaf) {
      // A scatter touches only the elements to which it adds.
      const bool added = member.leaves[leaf] == kSummed && i.opcode != Opcode::kScatter;
      if (added)
        weight_.ns_per_tile += 2 * bytes_of(graph_, {place, static_cast<int32_t>(leaf)}) * cost_.streamed_byte_ns();
    }
    if (member.loop == nullptr) {
      weigh_product(i, member.leaves[0], 1);
    } else {
      for (const auto& [inner, d] : member.loop->arrays) {
        if (d != kWhole) weigh_product(*inner, d, guessed_trips(i));
      }
    }
  }

  /// Elementwise kernels read operands without the dimension once for every slice in any case; products don't, and need
  /// enough rows.
  void weigh_product(const Instruction& i, int64_t d, double times) {
    const int64_t half = cluster_.extent / 2;
    if (!is_library_dot(i, graph_.target())) {
      const bool innermost = i.shape.rank() > 1 && d == i.shape.rank() - 1;
      if (innermost) weight_.least_tile = std::max(weight_.least_tile, std::min(half, cost_.machine().kernel_lanes));
      return;
    }
    const auto batches = static_cast<int64_t>(i.as<DotAttributes>().lhs_batch_dims.size());
    if (d < 0 || d >= batches) weight_.least_tile = std::max(weight_.least_tile, std::min(half, rows_per_slice(i)));
    if (d < 0) return;
    for (size_t k = 0; k < i.operands.size(); ++k) {
      int64_t j = 0;
      const bool whole = operand_in_step(i, k, d, j) == InStep::kAbsent;
      if (whole) weight_.ns_per_tile += times * bytes(i.operand(k).shape) * cost_.shared_byte_ns();
    }
  }

  /// How many slices give enough rows: a slice of a batch of sequences has many.
  int64_t rows_per_slice(const Instruction& dot) const {
    const double left = elements_of(dot.operand(0).shape), right = elements_of(dot.operand(1).shape);
    const double result = elements_of(dot.shape);
    // result = b m n, left = b m k, right = b k n: the smaller of m and n, per slice
    const double terms = std::max(terms_of(dot), 1.0);
    const double walked =
        std::max(result * terms / right, result * terms / left) / static_cast<double>(cluster_.extent);
    return std::max<int64_t>(
        1, static_cast<int64_t>(static_cast<double>(cost_.machine().product_rows) / std::max(walked, 1.0)));
  }

  static double bytes(const Shape& shape) {
    return elements_of(shape) * static_cast<double>(type_bits(shape.type)) / 8;
  }

  const ValueGraph& graph_;
  const Cost& cost_;
  const std::vector<ValueState>& states_;
  const StreamCluster& cluster_;
  ClusterWeight weight_;
  std::map<GraphLeaf, int32_t> last_;  ///< results of last_reader()
};

}  // namespace

double own_ns(const Instruction& i, const Target& target) {
  if (i.opcode == Opcode::kWhile) {
    double body = 0;
    for (const auto& inner : i.called[1]->instructions()) {
      if (inner->shape.is_array() || inner->opcode == Opcode::kWhile) body += own_ns(*inner, target);
    }
    return guessed_trips(i) * body;
  }
  return target.cost().streamed_ns(i, is_library_dot(i, target));
}

ClusterWeight weigh(const ValueGraph& graph, const std::vector<ValueState>& states, const StreamCluster& cluster) {
  return Weigher(graph, states, cluster).weigh();
}

}  // namespace lowtide::engine
