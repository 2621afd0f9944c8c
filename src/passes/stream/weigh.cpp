#include <algorithm>
#include <limits>

#include "analysis/leaf_bytes.h"
#include "passes/stream/cluster.h"
#include "passes/stream/walk.h"
#include "region/cost.h"
#include "region/evaluations.h"

namespace lowtide {
namespace {

constexpr double kLibraryNsPerTerm = 0.004;  ///< of a dot: two operations at 500 GF/s
constexpr int64_t kLeastRows = 32;           ///< of a library's dot
constexpr int64_t kLeastLanes = 64;          ///< of a kernel's innermost loop
constexpr int32_t kForever = std::numeric_limits<int32_t>::max();

class Weigher {
 public:
  Weigher(const ValueGraph& graph, const std::vector<ValueState>& states, const StreamCluster& cluster)
      : graph_(graph), states_(states), cluster_(cluster) {}

  ClusterWeight weigh() {
    weigh_bytes();
    std::map<int32_t, int> times;
    for (int32_t pass = 0; pass < cluster_.passes; ++pass) {
      const std::set<int32_t> made = members_of_pass(graph_, cluster_, pass);
      if (!made.empty()) weight_.ns_per_tile += 2 * kNsPerKernel;
      for (const int32_t place : made) {
        const bool again = ++times[place] > 1;
        weigh_time(place, again);
      }
    }
    return weight_;
  }

 private:
  double bytes(int32_t place) const { return static_cast<double>(safe_logical_bytes(graph_.at(place).shape)); }
  bool is_virtual(int32_t place) const { return states_[static_cast<size_t>(place)] == ValueState::kVirtual; }
  bool is_stored(int32_t place) const {
    return !is_virtual(place) && states_[static_cast<size_t>(place)] != ValueState::kView;
  }
  /// Has a whole of its own through all tiles.
  bool is_whole(int32_t place) const {
    const auto member = cluster_.members.find(place);
    return member != cluster_.members.end() && (member->second.is_folded() || cluster_.outputs.contains(place));
  }

  /// Until which member's kernel a value is read; kForever where others read it, too.
  int32_t last_reader(int32_t place) {
    if (cluster_.is_member(place) ? is_whole(place) : graph_.is_result(place)) return kForever;
    const auto known = last_.find(place);
    if (known != last_.end()) return known->second;
    int32_t last = place;
    for (const ValueGraph::Read& read : graph_.users(place)) {
      if (!graph_.is_live(read.user)) continue;
      if (!cluster_.is_member(read.user)) return last_[place] = kForever;
      last = std::max(last, is_stored(read.user) ? read.user : last_reader(read.user));
    }
    return last_[place] = last;
  }

  /// What the cluster holds at most while it runs: all at once, and tile by tile. Values that others keep alive, before
  /// and behind it, count in neither.
  void weigh_bytes() {
    std::map<int32_t, double> starts, ends;  // by place: bytes that begin and end there
    double kept = 0;                         // inputs and outputs, alive through all tiles
    std::set<int32_t> seen;
    for (const auto& [place, member] : cluster_.members) {
      for (const ValueGraph::Read& read : graph_.reads(place)) {
        if (cluster_.is_member(read.def) || !seen.insert(read.def).second) continue;
        if (is_virtual(read.def)) {
          if (!is_made_anew(graph_, states_, read.def)) kept += bytes(read.def);
          continue;
        }
        const int32_t last = last_reader(read.def);
        if (last == kForever || role_of(graph_.at(read.def)) == OpRole::kSource) continue;
        starts[-1] += bytes(read.def);
        ends[last] += bytes(read.def);
        kept += bytes(read.def);
      }
    }
    for (const auto& [place, member] : cluster_.members) {
      if (is_whole(place)) kept += bytes(place);
      if (!is_stored(place)) continue;
      starts[place] += bytes(place);
      const int32_t last = last_reader(place);
      if (last != kForever) ends[last] += bytes(place);
    }
    double live = starts.contains(-1) ? starts[-1] : 0, most = live;
    const double before = live;
    for (const auto& [place, member] : cluster_.members) {
      const double own = starts.contains(place) ? starts[place] : 0;
      const double dying = ends.contains(place) ? ends[place] : 0;
      live += own;
      // What is made element by element may take the place of what it reads last.
      const bool in_place = memory_class(graph_.at(place).opcode) == MemoryClass::kElementwise;
      const double both = live - (in_place && dying >= own ? own : 0);
      most = std::max(most, both);
      if (!is_whole(place)) weight_.inner_bytes = std::max(weight_.inner_bytes, both - before);
      live -= dying;
    }
    weight_.hidden_bytes = most - kept;
  }

  void weigh_time(int32_t place, bool again) {
    const Instruction& i = graph_.at(place);
    const StreamMember& member = cluster_.members.at(place);
    const double elements = elements_of(i.shape);
    const bool in_library = i.opcode == Opcode::kDot && !is_virtual(place);
    double ns = in_library ? elements * terms_of(i) * kLibraryNsPerTerm : elements * element_ns(i) / 2;
    if (is_stored(place)) ns += bytes(place) * kNsPerByte;
    (again ? weight_.again_ns : weight_.ns) += ns;
    if (is_stored(place)) weight_.ns_per_tile += kNsPerKernel;
    weight_.least_tile = std::max(weight_.least_tile, least_tile(i, member, in_library));
    if (member.is_folded()) {
      // A scatter touches what it adds to alone.
      if (i.opcode != Opcode::kScatter) weight_.ns_per_tile += 2 * bytes(place) * kNsPerByte;
      return;
    }
    if (i.opcode != Opcode::kDot) return;
    // Elementwise kernels read operands without the dimension once for every slice in any case; products don't.
    for (size_t k = 0; k < i.operands.size(); ++k) {
      int64_t j = 0;
      const bool whole = operand_in_step(i, k, member.dimension, j) == InStep::kAbsent;
      if (whole) weight_.ns_per_tile += static_cast<double>(safe_logical_bytes(i.operand(k).shape)) * kNsPerByte / 2;
    }
  }

  int64_t least_tile(const Instruction& i, const StreamMember& member, bool in_library) const {
    const int64_t least = std::min(cluster_.extent / 2, in_library ? kLeastRows : kLeastLanes);
    if (in_library) {
      const auto batches = static_cast<int64_t>(i.as<DotAttributes>().lhs_batch_dims.size());
      return member.is_folded() || member.dimension >= batches ? least : 1;
    }
    const bool innermost = !member.is_folded() && i.shape.rank() > 1 && member.dimension == i.shape.rank() - 1;
    return innermost ? least : 1;
  }

  const ValueGraph& graph_;
  const std::vector<ValueState>& states_;
  const StreamCluster& cluster_;
  ClusterWeight weight_;
  std::map<int32_t, int32_t> last_;  ///< last_reader, by place
};

}  // namespace

ClusterWeight weigh(const ValueGraph& graph, const std::vector<ValueState>& states, const StreamCluster& cluster) {
  return Weigher(graph, states, cluster).weigh();
}

}  // namespace lowtide
