#include "passes/stream/cluster.h"

#include <algorithm>

#include "analysis/leaf_bytes.h"
#include "passes/stream/walk.h"

namespace lowtide {
namespace {

constexpr size_t kMostMembers = 2000;
constexpr double kLargePart = 1.0 / 16;  ///< of the seed's bytes: worth hiding too

class Grower {
 public:
  Grower(const ValueGraph& graph, const std::vector<ValueState>& states, int32_t seed)
      : graph_(graph), states_(states), seed_(seed), large_(bytes(seed) * kLargePart) {}

  StreamCluster grow(int64_t d, const ClusterOptions& options) {
    cluster_.extent = graph_.at(seed_).shape.dims[static_cast<size_t>(d)];
    if (cluster_.extent < 2 || !add(seed_, {.dimension = d})) return {};
    spread();
    settle();
    if (options.one_pass && cluster_.passes > 1 && cluster_.is_member(seed_)) {
      const int32_t pass = cluster_.members.at(seed_).pass;
      std::erase_if(cluster_.members, [&](const auto& member) { return member.second.pass != pass; });
      settle();
      if (cluster_.passes > 1) return {};
    }
    if (!cluster_.is_member(seed_)) return {};
    find_outputs();
    return cluster_;
  }

 private:
  double bytes(int32_t place) const { return static_cast<double>(safe_logical_bytes(graph_.at(place).shape)); }
  bool is_virtual(int32_t place) const { return states_[static_cast<size_t>(place)] == ValueState::kVirtual; }
  bool is_view(int32_t place) const { return states_[static_cast<size_t>(place)] == ValueState::kView; }

  bool add(int32_t place, StreamMember member) {
    if (cluster_.is_member(place) || cluster_.members.size() >= kMostMembers || !graph_.is_live(place)) return false;
    const Instruction& i = graph_.at(place);
    if (!member.is_folded()) {
      const auto d = static_cast<size_t>(member.dimension);
      if (!can_be_made_by_slices(i, member.dimension) || i.shape.dims[d] != cluster_.extent) return false;
    }
    cluster_.members.emplace(place, std::move(member));
    open_.push_back(place);
    return true;
  }

  void spread() {
    while (!open_.empty()) {
      const int32_t place = open_.back();
      open_.pop_back();
      const StreamMember member = cluster_.members.at(place);
      for (const ValueGraph::Read& read : graph_.reads(place)) {
        const int64_t j = dimension_of_operand(place, member, static_cast<size_t>(read.operand));
        if (j < 0 || read.leaf != 0 || role_of(graph_.at(read.def)) == OpRole::kSource) continue;
        if (is_virtual(read.def) || is_view(read.def) || bytes(read.def) >= large_) add(read.def, {.dimension = j});
      }
      if (member.is_folded() || (!is_virtual(place) && !is_view(place) && bytes(place) < large_)) continue;
      for (const ValueGraph::Read& read : graph_.users(place)) add_user(read, member.dimension);
    }
  }

  /// kNoId: it is read whole, or not in step.
  int64_t dimension_of_operand(int32_t place, const StreamMember& member, size_t operand) const {
    if (member.is_folded()) return member.folded[operand];
    int64_t j = kNoId;
    const bool in_step = operand_in_step(graph_.at(place), operand, member.dimension, j) == InStep::kYes;
    return in_step ? j : kNoId;
  }

  void add_user(const ValueGraph::Read& read, int64_t mine) {
    const Instruction& user = graph_.at(read.user);
    if (!user.shape.is_array() || cluster_.is_member(read.user)) return;
    const auto operand = static_cast<size_t>(read.operand);
    for (int64_t r = 0; r < user.shape.rank(); ++r) {
      int64_t j = -1;
      if (operand_in_step(user, operand, r, j) == InStep::kYes && j == mine) {
        add(read.user, {.dimension = r});
        return;
      }
    }
    if (const std::optional<Fold> fold = folded_along(user, operand, mine))
      add(read.user, {.folded = fold->dimensions});
  }

  /// Removes members that don't read each other in step, until all do, and finds the passes.
  void settle() {
    while (drop_unsteady()) {
    }
    find_passes();
  }

  bool drop_unsteady() {
    for (const auto& [place, member] : cluster_.members) {
      for (const ValueGraph::Read& read : graph_.reads(place)) {
        const auto made = cluster_.members.find(read.def);
        if (made == cluster_.members.end()) continue;
        const int64_t j = dimension_of_operand(place, member, static_cast<size_t>(read.operand));
        if (made->second.is_folded() ? j == kNoId : j == made->second.dimension) continue;
        // Small values that someone reads whole are better made whole.
        const bool whole = j == kNoId && !made->second.is_folded() && bytes(read.def) < large_ && read.def != seed_;
        cluster_.members.erase(whole ? read.def : place);
        return true;
      }
    }
    return false;
  }

  void find_passes() {
    std::vector<int32_t> pass(static_cast<size_t>(graph_.size()), 0);
    cluster_.passes = 0;
    for (int32_t place = 0; place < graph_.size(); ++place) {
      const auto member = cluster_.members.find(place);
      const bool is_member = member != cluster_.members.end();
      int32_t mine = 0;
      for (const ValueGraph::Read& read : graph_.reads(place)) {
        const auto made = cluster_.members.find(read.def);
        const bool behind = made != cluster_.members.end() && (!is_member || made->second.is_folded());
        mine = std::max(mine, pass[static_cast<size_t>(read.def)] + (behind ? 1 : 0));
      }
      pass[static_cast<size_t>(place)] = mine;
      if (!is_member) continue;
      member->second.pass = mine;
      cluster_.passes = std::max(cluster_.passes, mine + 1);
    }
  }

  /// What others read is stored whole, or, where it is made of the cluster's inputs by cheap operations alone, made
  /// anew by them.
  void find_outputs() {
    std::map<int32_t, bool> light;
    for (const auto& [place, member] : cluster_.members) {
      bool all = is_virtual(place) && !member.is_folded();
      for (const ValueGraph::Read& read : graph_.reads(place)) {
        if (cluster_.is_member(read.def)) all &= light.at(read.def);
      }
      light[place] = all;
    }
    for (const auto& [place, member] : cluster_.members) {
      if (member.is_folded() || light.at(place)) continue;
      const auto users = graph_.users(place);
      const bool outside =
          graph_.is_result(place) || std::any_of(users.begin(), users.end(), [&](const ValueGraph::Read& read) {
            return graph_.is_live(read.user) && !cluster_.is_member(read.user);
          });
      if (outside) cluster_.outputs.insert(place);
    }
  }

  const ValueGraph& graph_;
  const std::vector<ValueState>& states_;
  int32_t seed_;
  double large_;
  StreamCluster cluster_;
  std::vector<int32_t> open_;
};

}  // namespace

StreamCluster grow_cluster(const ValueGraph& graph, const std::vector<ValueState>& states, int32_t seed, int64_t d,
                           const ClusterOptions& options) {
  return Grower(graph, states, seed).grow(d, options);
}

int32_t place_behind(const ValueGraph& graph, const Instruction& operand) {
  return graph.place_of(*resolve({&operand, 0}).instruction);
}

std::set<int32_t> members_of_pass(const ValueGraph& graph, const StreamCluster& cluster, int32_t pass) {
  std::set<int32_t> made;
  std::vector<int32_t> open;
  for (const auto& [place, member] : cluster.members) {
    if (member.pass == pass && (member.is_folded() || cluster.outputs.contains(place))) open.push_back(place);
  }
  while (!open.empty()) {
    const int32_t place = open.back();
    open.pop_back();
    if (!made.insert(place).second) continue;
    for (const ValueGraph::Read& read : graph.reads(place)) {
      const auto member = cluster.members.find(read.def);
      if (member == cluster.members.end() || member->second.is_folded()) continue;
      const bool stored = member->second.pass < pass && cluster.outputs.contains(read.def);
      if (!stored) open.push_back(read.def);
    }
  }
  return made;
}

bool is_made_anew(const ValueGraph& graph, const std::vector<ValueState>& states, int32_t place) {
  const Instruction& made = graph.at(place);
  if (!made.shape.is_array()) return false;
  if (made.opcode == Opcode::kConstant) return true;
  return states[static_cast<size_t>(place)] == ValueState::kVirtual && !is_heavy(made);
}

}  // namespace lowtide
