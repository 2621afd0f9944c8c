#include "passes/stream/slice_cluster.h"

#include <algorithm>
#include <limits>

#include "analysis/leaf_bytes.h"
#include "region/cost.h"
#include "region/dimension_roles.h"
#include "region/evaluations.h"
#include "region/roles.h"

namespace lowtide {
namespace {

constexpr size_t kMostMembers = 400;
constexpr double kLargePart = 1.0 / 16;      ///< of the seed's bytes: worth hiding too
constexpr double kLeastHidden = 2 << 20;     ///< bytes
constexpr double kLibraryNsPerTerm = 0.004;  ///< of a dot: two operations at 500 GF/s
constexpr int32_t kForever = std::numeric_limits<int32_t>::max();
constexpr double kMostOverhead = 0.05;  ///< of the time, for starting kernels and reading whole operands again

/// Slices of these differ from the whole in their shapes, and in attributes that are known to be adapted.
bool can_be_sliced(const Instruction& i) {
  if (!i.shape.is_array() || !i.shape.dynamic.empty() || !i.control_predecessors.empty()) return false;
  switch (i.opcode) {
    case Opcode::kReshape:
    case Opcode::kIota:
    case Opcode::kDot:
    case Opcode::kScatter: return true;
    case Opcode::kConcatenate:
    case Opcode::kBroadcast:
    case Opcode::kTranspose:
    case Opcode::kSlice:
    case Opcode::kReverse:
    case Opcode::kGather:
    case Opcode::kReduce: return true;
    default: return memory_class(i.opcode) == MemoryClass::kElementwise;
  }
}

class Finder {
 public:
  Finder(const ValueGraph& graph, const std::vector<ValueState>& states, int32_t seed)
      : graph_(graph), states_(states), seed_(seed), large_(bytes(seed) * kLargePart) {}

  SliceCluster find() {
    SliceCluster best;
    const Instruction& seed = graph_.at(seed_);
    for (int64_t d = 0; d < seed.shape.rank(); ++d) {
      cluster_ = {};
      cluster_.extent = seed.shape.dims[static_cast<size_t>(d)];
      if (cluster_.extent < 2 || !grow(d) || !drop_unsteady() || !is_convex()) continue;
      bound();
      weigh();
      if (choose_tile() && cluster_.hidden_bytes > best.hidden_bytes) best = cluster_;
    }
    return best;
  }

 private:
  double bytes(int32_t place) const { return static_cast<double>(safe_logical_bytes(graph_.at(place).shape)); }
  bool is_virtual(int32_t place) const { return states_[static_cast<size_t>(place)] == ValueState::kVirtual; }
  bool is_view(int32_t place) const { return states_[static_cast<size_t>(place)] == ValueState::kView; }
  bool is_member(int32_t place) const { return cluster_.dimension.contains(place); }

  /// Does every operand of it walk along, or not at all?
  bool fits(int32_t place, int64_t d) const {
    const Instruction& i = graph_.at(place);
    if (!can_be_sliced(i) || d >= i.shape.rank() || i.shape.dims[static_cast<size_t>(d)] != cluster_.extent)
      return false;
    if (!graph_.is_live(place) || !can_slice_result(i, d)) return false;
    bool walks = false;
    for (size_t k = 0; k < i.operands.size(); ++k) {
      int64_t j = 0;
      const InStep in_step = operand_in_step(i, k, d, j);
      if (in_step == InStep::kNo) return false;
      walks |= in_step == InStep::kYes;
    }
    return walks || i.opcode == Opcode::kIota || i.opcode == Opcode::kBroadcast;
  }

  bool add(int32_t place, int64_t d) {
    const auto known = cluster_.dimension.find(place);
    if (known != cluster_.dimension.end()) return known->second == d;
    if (cluster_.dimension.size() >= kMostMembers || !fits(place, d)) return false;
    cluster_.dimension[place] = d;
    open_.push_back(place);
    return true;
  }

  bool grow(int64_t d) {
    open_.clear();
    if (!add(seed_, d)) return false;
    while (!open_.empty()) {
      const int32_t place = open_.back();
      open_.pop_back();
      const int64_t mine = cluster_.dimension.at(place);
      for (const ValueGraph::Read& read : graph_.reads(place)) {
        int64_t j = 0;
        const Instruction& made = graph_.at(read.def);
        if (operand_in_step(graph_.at(place), static_cast<size_t>(read.operand), mine, j) != InStep::kYes) continue;
        if (role_of(made) == OpRole::kSource) continue;
        if (is_virtual(read.def) || is_view(read.def) || bytes(read.def) >= large_) add(read.def, j);
      }
      if (!is_virtual(place) && !is_view(place) && bytes(place) < large_) continue;
      for (const ValueGraph::Read& read : graph_.users(place)) {
        const Instruction& user = graph_.at(read.user);
        if (!user.shape.is_array() || is_member(read.user)) continue;
        for (int64_t r = 0; r < user.shape.rank(); ++r) {
          int64_t j = -1;
          if (operand_in_step(user, static_cast<size_t>(read.operand), r, j) == InStep::kYes && j == mine) {
            add(read.user, r);
            break;
          }
        }
      }
    }
    return true;
  }

  /// Members read each other in step, or not at all. False: the seed itself doesn't.
  bool drop_unsteady() {
    for (bool again = true; again;) {
      again = false;
      for (auto member = cluster_.dimension.begin(); member != cluster_.dimension.end();) {
        const Instruction& i = graph_.at(member->first);
        bool steady = true;
        for (size_t k = 0; k < i.operands.size(); ++k) {
          const auto read = cluster_.dimension.find(def_of(*i.operands[k]));
          int64_t j = 0;
          if (read == cluster_.dimension.end()) continue;
          steady &= operand_in_step(i, k, member->second, j) == InStep::kYes && j == read->second;
        }
        again |= !steady;
        member = steady ? std::next(member) : cluster_.dimension.erase(member);
      }
    }
    return is_member(seed_);
  }

  /// Nothing outside stands between two members.
  bool is_convex() const {
    std::vector<bool> behind(static_cast<size_t>(graph_.size()), false);
    for (int32_t place = 0; place < graph_.size(); ++place) {
      bool is_behind = false;
      for (const ValueGraph::Read& read : graph_.reads(place)) {
        const bool from_member = is_member(read.def) && !is_member(place);
        if (behind[static_cast<size_t>(read.def)] && is_member(place)) return false;
        is_behind |= from_member || behind[static_cast<size_t>(read.def)];
      }
      behind[static_cast<size_t>(place)] = is_behind;
    }
    return true;
  }

  /// Inputs, outputs, and what is saved.
  void bound() {
    for (const auto& [place, d] : cluster_.dimension) {
      const Instruction& i = graph_.at(place);
      for (size_t k = 0; k < i.operands.size(); ++k) {
        const int32_t def = def_of(*i.operands[k]);
        if (is_member(def)) continue;
        int64_t j = 0;
        if (operand_in_step(i, k, d, j) != InStep::kYes) {
          add_whole(*i.operands[k]);
          continue;
        }
        const std::pair<Instruction*, int64_t> input{i.operands[k], j};
        if (std::find(cluster_.sliced.begin(), cluster_.sliced.end(), input) != cluster_.sliced.end()) continue;
        cluster_.sliced.push_back(input);
      }
      if (is_read_outside(place)) cluster_.outputs.push_back(place);
    }
  }

  bool is_read_outside(int32_t place) const {
    if (graph_.is_result(place)) return true;
    const auto users = graph_.users(place);
    return std::any_of(users.begin(), users.end(), [&](const ValueGraph::Read& read) {
      return graph_.is_live(read.user) && !is_member(read.user);
    });
  }

  /// Until which member's kernel a value is read; kForever where others read it, too.
  int32_t last_reader(int32_t place) {
    if (is_member(place) ? is_read_outside(place) : graph_.is_result(place)) return kForever;
    const auto known = last_.find(place);
    if (known != last_.end()) return known->second;
    int32_t last = place;
    for (const ValueGraph::Read& read : graph_.users(place)) {
      if (!graph_.is_live(read.user)) continue;
      if (!is_member(read.user)) return last_[place] = kForever;
      const bool inside = is_virtual(read.user) || is_view(read.user);
      last = std::max(last, inside ? last_reader(read.user) : read.user);
    }
    return last_[place] = last;
  }

  /// What the cluster holds at most while it runs: all at once, and tile by tile. Values that others keep alive, before
  /// and behind it, count in neither.
  void weigh() {
    last_.clear();
    std::map<int32_t, double> starts, ends;  // by place: bytes that begin and end there
    double kept = 0;                         // inputs and outputs, alive through the whole loop
    for (const auto& [operand, d] : cluster_.sliced) {
      const int32_t def = def_of(*operand);
      const int32_t last = last_reader(def);
      if (is_virtual(def)) kept += bytes(def);
      if (is_virtual(def) || last == kForever || role_of(graph_.at(def)) == OpRole::kSource) continue;
      starts[-1] += bytes(def);
      ends[last] += bytes(def);
      kept += bytes(def);
    }
    double outputs = 0;
    for (const auto& [place, d] : cluster_.dimension) {
      if (is_read_outside(place)) outputs += bytes(place);
      if (is_virtual(place) || is_view(place)) continue;
      starts[place] += bytes(place);
      const int32_t last = last_reader(place);
      if (last != kForever) ends[last] += bytes(place);
    }
    double live = starts.contains(-1) ? starts[-1] : 0, most = live, inner = 0;
    const double before = live;
    for (const auto& [place, d] : cluster_.dimension) {
      live += starts.contains(place) ? starts[place] : 0;
      const double dying = ends.contains(place) ? ends[place] : 0;
      // What is made element by element may take the place of what it reads last.
      const bool in_place = memory_class(graph_.at(place).opcode) == MemoryClass::kElementwise;
      const double own = starts.contains(place) ? starts[place] : 0;
      const double both = live - (in_place && dying >= own ? own : 0);
      most = std::max(most, both);
      inner = std::max(inner, both - before);
      live -= dying;
    }
    cluster_.hidden_bytes += most - kept - outputs;
    tile_bytes_ = inner;
  }

  int32_t def_of(const Instruction& operand) const { return graph_.place_of(*resolve({&operand, 0}).instruction); }

  void add_whole(Instruction& operand) {
    const int32_t place = def_of(operand);
    const Instruction& made = graph_.at(place);
    const bool cheap = made.opcode == Opcode::kConstant || (is_virtual(place) && !is_heavy(made));
    if (!cheap || !made.shape.is_array()) {
      auto& whole = cluster_.whole;
      if (std::find(whole.begin(), whole.end(), &operand) == whole.end()) whole.push_back(&operand);
      return;
    }
    if (!cluster_.invariant.insert(place).second) return;
    for (Instruction* o : made.operands) {
      if (is_member(def_of(*o))) {
        cluster_.hidden_bytes = -1e30;  // a member would be needed whole inside
      } else {
        add_whole(*o);
      }
    }
  }

  /// The smallest divisor of the extent whose tiles are worth their overhead.
  bool choose_tile() {
    if (cluster_.hidden_bytes < kLeastHidden || cluster_.outputs.empty()) return false;
    double ns = 0, whole_bytes = 0, kernels = 2;
    for (const auto& [place, d] : cluster_.dimension) {
      const Instruction& i = graph_.at(place);
      const double elements = elements_of(i.shape);
      ns += i.opcode == Opcode::kDot ? elements * terms_of(i) * kLibraryNsPerTerm : elements * element_ns(i) / 2;
      if (!is_virtual(place)) ns += bytes(place) * kNsPerByte;
      kernels += !is_virtual(place);
      if (i.opcode != Opcode::kDot) continue;
      // Elementwise kernels read operands without the dimension once for every slice in any case; products don't.
      for (size_t k = 0; k < i.operands.size(); ++k) {
        int64_t j = 0;
        const bool whole = operand_in_step(i, k, d, j) == InStep::kAbsent;
        if (whole) whole_bytes += static_cast<double>(safe_logical_bytes(i.operand(k).shape));
      }
    }
    for (int64_t tile = 1; 2 * tile <= cluster_.extent; ++tile) {
      if (cluster_.extent % tile != 0) continue;
      const double tiles = static_cast<double>(cluster_.extent / tile);
      const double overhead = tiles * (kernels * kNsPerKernel + whole_bytes * kNsPerByte / 2);
      if (overhead > kMostOverhead * ns) continue;
      cluster_.tile = tile;
      cluster_.hidden_bytes -= tile_bytes_ / tiles;
      return cluster_.hidden_bytes >= kLeastHidden;
    }
    return false;
  }

  const ValueGraph& graph_;
  const std::vector<ValueState>& states_;
  int32_t seed_;
  double large_;
  SliceCluster cluster_;
  std::vector<int32_t> open_;
  std::map<int32_t, int32_t> last_;  ///< last_reader, by place
  double tile_bytes_ = 0;            ///< of all tiles together: what the loop holds besides inputs and outputs
};

}  // namespace

InStep operand_in_step(const Instruction& user, size_t operand, int64_t d, int64_t& operand_dimension) {
  const Shape& shape = user.operand(operand).shape;
  if (!shape.is_array()) return InStep::kNo;
  const std::vector<OperandDimension> roles = operand_roles(user, operand);
  InStep in_step = InStep::kAbsent;
  for (size_t j = 0; j < roles.size(); ++j) {
    const OperandDimension& role = roles[j];
    const bool walks = role.role == DimensionRole::kPointwise || role.role == DimensionRole::kWindowed;
    if (!walks || role.result_dimension != d) continue;
    const bool plain = role.role == DimensionRole::kPointwise && role.stride == 1 && role.offset == 0 &&
                       shape.dims[j] == user.shape.dims[static_cast<size_t>(d)];
    if (!plain || in_step == InStep::kYes) return InStep::kNo;
    in_step = InStep::kYes;
    operand_dimension = static_cast<int64_t>(j);
  }
  if (in_step == InStep::kYes) return in_step;
  // No dimension of the operand walks along: it must be one that is read anew for every slice.
  switch (user.opcode) {
    case Opcode::kBroadcast:
    case Opcode::kDot:
    case Opcode::kGather: return in_step;
    case Opcode::kScatter: return operand == 1 ? in_step : InStep::kNo;
    default: return shape.rank() == 0 ? in_step : InStep::kNo;
  }
}

SliceCluster find_cluster(const ValueGraph& graph, const std::vector<ValueState>& states, int32_t seed) {
  return Finder(graph, states, seed).find();
}

}  // namespace lowtide
