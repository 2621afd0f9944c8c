#include "passes/stream/cluster.h"

#include <algorithm>
#include <limits>

#include "analysis/leaf_bytes.h"
#include "ir/shape_leaves.h"
#include "ops/dimension_roles.h"
#include "passes/stream/between_passes.h"
#include "passes/stream/continued_sums.h"
#include "passes/stream/keep_order.h"
#include "passes/stream/stream_loop.h"
#include "passes/stream/walk.h"

namespace lowtide::engine {
namespace {

constexpr size_t kMostMembers = 4000;
constexpr int32_t kNever = std::numeric_limits<int32_t>::max();
constexpr double kLargePart = 1.0 / 16;  ///< of the seed's bytes: larger values are worth hiding, too

bool is_loop(const Instruction& i) { return i.opcode == Opcode::kWhile; }

/// The loop-carried or donated parameter that has the same number as a result.
std::optional<GraphLeaf> parameter_of_result(const ValueGraph& graph, GraphLeaf array) {
  const Computation& computation = *graph.at(array.place).parent;
  const auto& results = graph.results();
  const auto result = std::ranges::find(results, LeafRef{&graph.at(array.place), array.leaf});
  if (result == results.end()) return std::nullopt;
  const auto number = static_cast<int32_t>(result - results.begin());
  const std::vector<Instruction*>& parameters = graph.parameters();
  if (computation.module().entry != &computation) return GraphLeaf{graph.place_of(*parameters[0]), number};
  for (const AliasEntry& alias : computation.module().input_output_alias) {
    int64_t first = 0, count = 0;
    const bool is_array = leaf_range(computation.root->shape, alias.output, first, count) && count == 1;
    const bool is_known = alias.operand >= 0 && alias.operand < std::ssize(parameters) && alias.operand_index.empty();
    if (!is_array || first != number || !is_known) continue;
    return GraphLeaf{graph.place_of(*parameters[alias.operand]), 0};
  }
  return std::nullopt;
}

/// By array from outside that members read only slice by slice: the dimension along which all do.
std::map<GraphLeaf, int64_t> arrays_read_in_step(const ValueGraph& graph, const StreamCluster& cluster) {
  std::map<GraphLeaf, int64_t> dimensions;
  for (const auto& [place, member] : cluster.members) {
    const auto reads = graph.reads(place);
    for (size_t k = 0; k < reads.size(); ++k) {
      if (cluster.is_member(reads[k].def)) continue;
      const auto [known, is_new] = dimensions.try_emplace({reads[k].def, reads[k].leaf}, member.reads[k]);
      if (known->second != member.reads[k]) known->second = kWhole;
    }
  }
  std::erase_if(dimensions, [](const auto& entry) { return entry.second < 0; });
  return dimensions;
}

class Grower {
 public:
  Grower(const ValueGraph& graph, const std::vector<ValueState>& states, GraphLeaf seed)
      : graph_(graph),
        states_(states),
        seed_(seed),
        large_(bytes_of(graph, seed) * kLargePart),
        in_order_(graph.at(seed.place).parent->module().sums_in_order) {}

  StreamCluster grow(int64_t d, const ClusterOptions& options) {
    alone_ = options.alone;
    barred_ = options.barred;
    behind_.insert(seed_.place);
    cluster_.extent = shape_of(graph_, seed_).dims[d];
    if (cluster_.extent < 2 || !add(seed_, d)) return {};
    spread();
    if (!alone_) bridge();
    settle();
    if (options.one_pass && cluster_.passes > 1 && cluster_.is_member(seed_.place)) {
      const int32_t pass = cluster_.members.at(seed_.place).pass;
      erase_if(cluster_.members, [&](const auto& member) { return member.second.pass != pass; });
      settle();
      if (cluster_.passes > 1) return {};
    }
    if (options.passes > 0 && !keep_passes(options.passes)) return {};
    if (cluster_.dimension_of(seed_) != d) return {};
    find_outputs();
    if (options.store > 0) keep_between_passes(graph_, states_, cluster_, options.store);
    return cluster_;
  }

 private:
  bool is_virtual(int32_t place) const { return states_[place] == ValueState::kVirtual; }
  bool is_stored(int32_t place) const { return !is_virtual(place) && states_[place] != ValueState::kView; }
  double bytes_at(int32_t place) const {
    const Shape* const shape = common_extents(graph_.at(place));
    return shape == nullptr ? 0 : static_cast<double>(safe_logical_bytes(*shape));
  }
  /// Is it large enough to be worth slicing, or not stored?
  bool joins(GraphLeaf array) const { return !is_stored(array.place) || bytes_of(graph_, array) >= large_; }

  /// Adds the array, to be computed in slices along d.
  bool add(GraphLeaf array, int64_t d) {
    if (!graph_.is_live(array.place) || (barred_ != nullptr && (*barred_)[array.place])) return false;
    const Instruction& i = graph_.at(array.place);
    if (is_loop(i)) return !alone_ && add_loop(array.place, static_cast<size_t>(array.leaf), d);
    if (cluster_.is_member(array.place) || cluster_.members.size() >= kMostMembers) return false;
    if (!can_be_made_by_slices(i, d, cluster_.extent) || !fits(*common_extents(i), d, i)) return false;
    StreamMember member{.leaves = Dims(i.shape.is_tuple() ? i.shape.elements.size() : 1, d)};
    for (size_t k = 0; k < i.operands.size(); ++k) {
      int64_t j = kWhole;
      member.reads.push_back(operand_in_step(i, k, d, j, cluster_.extent) == InStep::kYes ? j : kWhole);
    }
    return insert(array.place, std::move(member));
  }

  /// Do the slices divide dimension d of the array that i computes? Blocks of several elements have no positions, and
  /// are for convolutions: a dot gets dimensions of its own instead (passes/rules/split_merged_dimensions.h). In a
  /// product they may be summed in another order.
  bool fits(const Shape& shape, int64_t d, const Instruction& i) const {
    if (shape.dims[d] == cluster_.extent) return true;
    if (shape.dims[d] % cluster_.extent != 0 || has_positions(i, d) || i.opcode == Opcode::kDot) return false;
    return i.opcode != Opcode::kConvolution || !in_order_;
  }

  /// Slices element `leaf` of a loop's state along d, in addition to those sliced already.
  bool add_loop(int32_t place, size_t leaf, int64_t d) {
    const Instruction& loop = graph_.at(place);
    Dims leaves(loop.shape.elements.size(), kWhole);
    if (const auto known = cluster_.members.find(place); known != cluster_.members.end()) {
      for (size_t k = 0; k < leaves.size(); ++k) {
        if (known->second.leaves[k] >= 0) leaves[k] = known->second.leaves[k];
      }
    }
    if (leaves[leaf] == d || refused_.contains(place)) return false;
    if (loop.frontend_attributes == kTilesAttribute) return false;
    leaves[leaf] = d;
    if (loop.shape.elements[leaf].dims[d] != cluster_.extent) return false;
    auto walk = walk_loop(loop, leaves, cluster_.extent);
    const bool allowed = walk != nullptr && (!in_order_ || walk_keeps_order(*walk));
    if (!allowed || graph_.reads(place).size() != leaves.size()) {
      refused_.insert(place);
      cluster_.members.erase(place);
      return false;
    }
    cluster_.members.erase(place);
    StreamMember member{.leaves = walk->leaves, .reads = walk->leaves, .loop = walk};
    for (size_t k = 0; k < leaves.size(); ++k) {
      if (member.reads[k] == kSummed) member.reads[k] = kInitial;
    }
    return insert(place, std::move(member));
  }

  bool add_fold(int32_t place, const Fold& fold) {
    const Instruction& i = graph_.at(place);
    StreamMember member{.leaves = {kSummed}, .reads = fold.dimensions};
    if (i.opcode == Opcode::kReduce) member.reads[1] = kInitial;
    if (i.opcode == Opcode::kScatter) member.reads[0] = kInitial;
    return insert(place, std::move(member));
  }

  bool insert(int32_t place, StreamMember member) {
    if (!graph_.is_live(place) || !cluster_.members.emplace(place, std::move(member))) return false;
    open_.insert({-bytes_at(place), place});
    return true;
  }

  void spread() {
    while (!open_.empty()) {
      const int32_t place = open_.extract(open_.begin()).value().second;
      if (!cluster_.is_member(place)) continue;
      const StreamMember member = cluster_.members.at(place);
      const auto reads = graph_.reads(place);
      for (size_t k = 0; k < reads.size(); ++k) {
        const GraphLeaf made{reads[k].def, reads[k].leaf};
        if (member.loop != nullptr && member.reads[k] == kWhole && cluster_.dimension_of(made) >= 0) {
          add_loop(place, k, cluster_.dimension_of(made));
        }
        if (member.reads[k] < 0 || graph_.target().role_of(graph_.at(made.place)) == OpRole::kSource) continue;
        if (joins(made)) add(made, member.reads[k]);
      }
      if ((alone_ && !behind_.contains(place)) || connects_nothing(place)) continue;
      for (const ValueGraph::Read& read : graph_.users(place)) {
        const GraphLeaf array{place, read.leaf};
        const bool between = is_loop(graph_.at(read.user)) && cluster_.is_member(read.user);
        if (member.leaves[read.leaf] >= 0 && (between || joins(array))) add_user(read);
        if (alone_ && cluster_.is_member(read.user)) behind_.insert(read.user);
      }
    }
  }

  /// Is it a small value that is computed from scalars alone, such as zeros or an iota? Equal ones are one value, whose
  /// readers need have nothing else in common: one may read it along rows, another along columns of as many.
  bool connects_nothing(int32_t place) {
    if (place == seed_.place || !is_virtual(place) || is_large(place)) return false;
    const auto [known, is_new] = generated_.try_emplace(place, true);
    if (!is_new) return known->second;
    const auto reads = graph_.reads(place);
    const bool generated = std::ranges::all_of(reads, [&](const ValueGraph::Read& read) {
      const Shape& shape = shape_of(graph_, {read.def, read.leaf});
      return shape.rank() == 0 || connects_nothing(read.def);
    });
    return generated_[place] = generated;
  }
  bool is_large(int32_t place) const {
    return !graph_.at(place).shape.is_array() || bytes_of(graph_, {place, 0}) >= large_;
  }

  /// Adds a reader of a member's slices.
  void add_user(const ValueGraph::Read& read) {
    const Instruction& user = graph_.at(read.user);
    const int64_t mine = cluster_.dimension_of({read.def, read.leaf});
    if (is_loop(user) && alone_) return;
    if (is_loop(user)) {
      const auto reads = graph_.reads(read.user);
      for (size_t k = 0; k < reads.size(); ++k) {
        if (reads[k].def == read.def && reads[k].leaf == read.leaf) add_loop(read.user, k, mine);
      }
      return;
    }
    const Shape* const extents = common_extents(user);
    if (extents == nullptr || cluster_.is_member(read.user)) return;
    const auto operand = static_cast<size_t>(read.operand);
    for (int64_t r = 0; r < extents->rank(); ++r) {
      int64_t j = -1;
      if (operand_in_step(user, operand, r, j, cluster_.extent) == InStep::kYes && j == mine) {
        add({read.user, 0}, r);
        return;
      }
    }
    const std::optional<Fold> fold = alone_ ? std::nullopt : folded_along(user, operand, mine);
    const bool is_blocked = shape_of(graph_, {read.def, read.leaf}).dims[mine] != cluster_.extent;
    if (is_blocked && (user.opcode != Opcode::kConvolution || in_order_)) return;
    if (fold && is_allowed(user, operand, mine)) add_fold(read.user, *fold);
  }

  bool is_allowed(const Instruction& fold, size_t operand, int64_t d) const {
    if (!in_order_) return true;
    const FoldOrder order = fold_order(fold, operand, d, graph_.target());
    // HLO has no dot that adds to an operand.
    return order == FoldOrder::kAny || (order == FoldOrder::kContinued && graph_.target().takes() == Takes::kProgram);
  }

  /// Adds small values between members, which would otherwise split these into passes.
  void bridge() {
    for (bool again = true; again;) {
      again = false;
      const std::vector<bool> ahead = read_by_members();
      for (int32_t place = 0; place < graph_.size(); ++place) {
        if (!ahead[place] || cluster_.is_member(place) || refused_.contains(place)) continue;
        for (const ValueGraph::Read& read : graph_.reads(place)) {
          if (cluster_.dimension_of({read.def, read.leaf}) >= 0 && !connects_nothing(read.def)) add_user(read);
        }
        again |= !open_.empty();
        spread();
      }
    }
  }

  /// By place: does a member depend on it?
  std::vector<bool> read_by_members() const {
    std::vector<bool> ahead(static_cast<size_t>(graph_.size()), false);
    for (int32_t place = graph_.size(); place-- > 0;) {
      const auto users = graph_.users(place);
      ahead[place] = std::any_of(users.begin(), users.end(), [&](const ValueGraph::Read& read) {
        return cluster_.is_member(read.user) || ahead[read.user];
      });
    }
    return ahead;
  }

  /// By place: is it a member computed from the cluster's inputs by cheap operations only?
  std::vector<bool> light_members() const {
    std::vector<bool> light(static_cast<size_t>(graph_.size()), false);
    for (const auto& [place, member] : cluster_.members) {
      bool all = is_virtual(place) && member.leaves[0] != kSummed;
      for (const ValueGraph::Read& read : graph_.reads(place)) {
        if (cluster_.is_member(read.def)) all &= light[read.def];
      }
      light[place] = all;
    }
    return light;
  }

  /// Removes members until all read each other slice by slice, and finds the passes.
  void settle() {
    do {
      drop_unsteady();
      find_passes();
    } while (drop_light_sum());
  }

  /// Removes sums that members wait for, of values computed from the cluster's inputs by cheap operations only: they
  /// are computed whole, before the loop. In the cluster they would need a separate pass, and the next pass would
  /// recompute all that this one computes.
  bool drop_light_sum() {
    const std::vector<bool> light = light_members();
    const std::vector<bool> ahead = read_by_members();
    const auto is_light_sum = [&](const auto& member) {
      const auto& [place, m] = member;
      if (m.loop != nullptr || m.leaves[0] != kSummed || !ahead[place]) return false;
      return std::ranges::all_of(graph_.reads(place), [&](const ValueGraph::Read& read) {
        return !cluster_.is_member(read.def) || light[read.def];
      });
    };
    return erase_if(cluster_.members, is_light_sum) > 0;
  }

  /// Removes the first unsteady member, repeatedly. A removal makes no member before the current one unsteady, except
  /// loops that the removed one read.
  void drop_unsteady() {
    for (auto member = cluster_.members.begin(); member != cluster_.members.end();) {
      const int32_t place = member->first, dropped = unsteady_at(place, member->second);
      if (dropped == kNoId) {
        ++member;
        continue;
      }
      int32_t next = place;
      for (const ValueGraph::Read& read : graph_.reads(dropped)) {
        if (is_loop(graph_.at(read.def))) next = std::min(next, read.def);
      }
      cluster_.members.erase(dropped);
      member = cluster_.members.lower_bound(next);
    }
  }

  /// The member to remove so that this one can be computed: itself, or one that it reads; kNoId: none.
  int32_t unsteady_at(int32_t place, const StreamMember& member) const {
    const auto reads = graph_.reads(place);
    for (size_t k = 0; k < reads.size(); ++k) {
      const GraphLeaf made{reads[k].def, reads[k].leaf};
      if (!cluster_.is_member(made.place)) continue;
      const int64_t d = cluster_.dimension_of(made), j = member.reads[k];
      if (d == j || (d == kSummed && j < 0)) continue;
      // Small values that a member reads whole are better computed whole.
      const bool small = bytes_of(graph_, made) < large_ && !is_loop(graph_.at(made.place));
      const bool whole = j < 0 && small && made.place != seed_.place;
      return whole ? made.place : place;
    }
    if (member.loop == nullptr) return kNoId;
    // Non-members can't read what is the same for every tile: it would have to be carried.
    for (size_t leaf = 0; leaf < member.leaves.size(); ++leaf) {
      const GraphLeaf array{place, static_cast<int32_t>(leaf)};
      if (member.leaves[leaf] == kWhole && is_read_outside(graph_, cluster_, array)) return place;
    }
    return kNoId;
  }

  void find_passes() {
    std::vector<int32_t> pass(static_cast<size_t>(graph_.size()), 0);
    cluster_.passes = 0;
    for (int32_t place = 0; place < graph_.size(); ++place) {
      const auto member = cluster_.members.find(place);
      const bool is_member = member != cluster_.members.end();
      int32_t mine = 0;
      const auto reads = graph_.reads(place);
      for (size_t k = 0; k < reads.size(); ++k) {
        const GraphLeaf array{reads[k].def, reads[k].leaf};
        const bool made = cluster_.is_member(array.place);
        const bool behind = made && (!is_member || (cluster_.is_sum(array) && !goes_on(graph_, cluster_, place, k)));
        mine = std::max(mine, pass[array.place] + (behind ? 1 : 0));
      }
      pass[place] = mine;
      if (!is_member) continue;
      member->second.pass = mine;
      cluster_.passes = std::max(cluster_.passes, mine + 1);
    }
    const std::vector<int32_t> latest = latest_passes();
    for (auto& [place, member] : cluster_.members) member.pass = latest[place];
  }

  /// Keeps members of `count` passes, from the first that needs the seed on. False: there are no other passes.
  bool keep_passes(int32_t count) {
    if (cluster_.passes <= count || !cluster_.is_member(seed_.place)) return false;
    const int32_t first = cluster_.members.at(seed_.place).pass;
    erase_if(cluster_.members,
             [&](const auto& member) { return member.second.pass < first || member.second.pass >= first + count; });
    settle();
    return true;
  }

  /// By place: the last pass in which a member can be computed without delaying sums and outside readers. A value that
  /// is recomputed for late readers, from values that exist early, belongs to its readers' pass, not to the first
  /// possible one.
  std::vector<int32_t> latest_passes() const {
    std::vector<int32_t> latest(static_cast<size_t>(graph_.size()), kNever);
    for (int32_t place = graph_.size(); place-- > 0;) {
      const auto member = cluster_.members.find(place);
      const bool is_member = member != cluster_.members.end();
      int32_t& mine = latest[place];
      for (const ValueGraph::Read& read : graph_.users(place)) {
        const int32_t user = latest[read.user];
        if (user == kNever) continue;
        const bool before = is_member && (!cluster_.is_member(read.user) || cluster_.is_sum({place, read.leaf}));
        mine = std::min(mine, before ? user - 1 : user);
      }
      if (!is_member) continue;
      const bool is_sum = std::ranges::find(member->second.leaves, kSummed) != member->second.leaves.end();
      if (mine == kNever || is_sum) mine = member->second.pass;
    }
    return latest;
  }

  /// Values that non-members read are stored whole or, if they are computed from the cluster's inputs by cheap
  /// operations only, recomputed by their readers.
  void find_outputs() {
    const std::vector<bool> light = light_members();
    cluster_.added_into = continued_sums(graph_, cluster_);
    for (const auto& [place, member] : cluster_.members) {
      for (size_t leaf = 0; leaf < member.leaves.size(); ++leaf) {
        const GraphLeaf array{place, static_cast<int32_t>(leaf)};
        if (member.leaves[leaf] == kSummed && !cluster_.added_into.contains(array)) cluster_.sums.insert(array);
        if (member.leaves[leaf] < 0 || light[place] || (alone_ && !behind_.contains(place))) continue;
        if (is_read_outside(graph_, cluster_, array)) cluster_.outputs.insert(array);
      }
    }
    find_consumed(light);
  }

  /// See StreamCluster::consumed: parameters first, then, in bodies of loops, for each output the first array that is
  /// left.
  void find_consumed(const std::vector<bool>& light) {
    std::map<GraphLeaf, int64_t> arrays = arrays_read_in_step(graph_, cluster_);
    for (const GraphLeaf& output : cluster_.outputs) {
      const std::optional<GraphLeaf> carry = parameter_of_result(graph_, output);
      const auto read = carry ? arrays.find(*carry) : arrays.end();
      if (read == arrays.end() || read->second != cluster_.dimension_of(output)) continue;
      cluster_.consumed.emplace(output, read->first);
      arrays.erase(read);
    }
    // In the entry, `recompute` chooses afterwards what is made again, perhaps from such an array.
    const Instruction& first = graph_.at(0);
    if (first.parent == first.parent->module().entry) return;
    const std::set<GraphLeaf> behind = read_behind(light);
    std::erase_if(arrays, [&](const auto& entry) {
      const GraphLeaf& array = entry.first;
      if (behind.contains(array)) return true;
      const bool is_given = graph_.target().role_of(graph_.at(array.place)) == OpRole::kSource;
      return is_given || !is_stored(array.place) || is_read_outside(graph_, cluster_, array);
    });
    for (const GraphLeaf& output : cluster_.outputs) {
      if (cluster_.consumed.contains(output)) continue;
      const auto alike = std::ranges::find_if(arrays, [&](const auto& entry) {
        return entry.second == cluster_.dimension_of(output) &&
               same_shape(shape_of(graph_, entry.first), shape_of(graph_, output));
      });
      if (alike == arrays.end()) continue;
      cluster_.consumed.emplace(output, alike->first);
      arrays.erase(alike);
    }
  }

  /// The cluster's inputs from which readers outside recompute light members.
  std::set<GraphLeaf> read_behind(const std::vector<bool>& light) const {
    std::set<GraphLeaf> inputs;
    std::set<int32_t> again;
    for (auto member = cluster_.members.end(); member != cluster_.members.begin();) {
      const int32_t place = (--member)->first;
      if (!light[place]) continue;
      if (!again.contains(place) && !is_read_outside(graph_, cluster_, {place, 0})) continue;
      for (const ValueGraph::Read& read : graph_.reads(place)) {
        if (cluster_.is_member(read.def)) {
          again.insert(read.def);
        } else {
          inputs.insert({read.def, read.leaf});
        }
      }
    }
    return inputs;
  }

  const ValueGraph& graph_;
  const std::vector<ValueState>& states_;
  GraphLeaf seed_;
  double large_;
  bool in_order_;  ///< sums of floats may not be split into parts
  StreamCluster cluster_;
  /// Members whose operands and readers are to be looked at, the largest first: what folds large arrays is a fold
  /// before small values that read the result could join as slices of something else.
  std::set<std::pair<double, int32_t>> open_;
  std::set<int32_t> refused_;          ///< loops that can't run slice by slice
  std::map<int32_t, bool> generated_;  ///< results of connects_nothing()
  bool alone_ = false;
  const std::vector<bool>* barred_ = nullptr;
  std::set<int32_t> behind_;  ///< the seed, and members computed from it
};

/// Does a virtual value read an array that tiles overwrite, itself or through other virtual values?
bool reads_consumed(const ValueGraph& graph, const std::vector<ValueState>& states, const StreamCluster& cluster,
                    int32_t place) {
  std::set<int32_t> seen{place};
  std::vector<int32_t> open{place};
  while (!open.empty()) {
    const int32_t at = open.back();
    open.pop_back();
    for (const ValueGraph::Read& read : graph.reads(at)) {
      const GraphLeaf array{read.def, read.leaf};
      if (std::ranges::any_of(cluster.consumed, [&](const auto& c) { return c.second == array; })) return true;
      const bool is_virtual = states[read.def] == ValueState::kVirtual;
      if (is_virtual && seen.insert(read.def).second) open.push_back(read.def);
    }
  }
  return false;
}

}  // namespace

GraphLeaf StreamCluster::accumulator_of(GraphLeaf sum) const {
  for (auto next = added_into.find(sum); next != added_into.end(); next = added_into.find(sum)) sum = next->second;
  return sum;
}

bool StreamCluster::is_stored_before(GraphLeaf array, int32_t pass) const {
  if (outputs.contains(array) && members.at(array.place).pass < pass) return true;
  const auto stays = kept.find(array.place);
  return stays != kept.end() && dimension_of(array) >= 0 &&
         std::ranges::any_of(stays->second, [&](const Stay& stay) { return stay.first < pass && pass <= stay.last; });
}

bool StreamCluster::is_stored_by(GraphLeaf array, int32_t pass) const {
  if (outputs.contains(array) && members.at(array.place).pass == pass) return true;
  const auto stays = kept.find(array.place);
  return stays != kept.end() && dimension_of(array) >= 0 &&
         std::ranges::find(stays->second, pass, &Stay::first) != stays->second.end();
}

StreamCluster grow_cluster(const ValueGraph& graph, const std::vector<ValueState>& states, GraphLeaf seed, int64_t d,
                           const ClusterOptions& options) {
  return Grower(graph, states, seed).grow(d, options);
}

bool is_read_outside(const ValueGraph& graph, const StreamCluster& cluster, GraphLeaf array) {
  const auto users = graph.users(array.place);
  const auto& results = graph.results();
  const bool is_result = std::ranges::find(results, LeafRef{&graph.at(array.place), array.leaf}) != results.end();
  return is_result || std::any_of(users.begin(), users.end(), [&](const ValueGraph::Read& read) {
           return read.leaf == array.leaf && graph.is_live(read.user) && !cluster.is_member(read.user);
         });
}

GraphLeaf array_behind(const ValueGraph& graph, const Instruction& operand) {
  const LeafRef behind = resolve({&operand, 0});
  return {graph.place_of(*behind.instruction), behind.leaf};
}

const Shape& shape_of(const ValueGraph& graph, GraphLeaf array) {
  const Shape& shape = graph.at(array.place).shape;
  return shape.is_tuple() ? shape.elements[array.leaf] : shape;
}

double bytes_of(const ValueGraph& graph, GraphLeaf array) {
  return static_cast<double>(safe_logical_bytes(shape_of(graph, array)));
}

std::vector<const Instruction*> largest_arrays(const ValueGraph& graph, const std::vector<ValueState>& states,
                                               size_t most) {
  std::vector<std::pair<int64_t, int32_t>> found;
  for (int32_t place = 0; place < graph.size(); ++place) {
    const Instruction& i = graph.at(place);
    const ValueState state = states[place];
    const bool stored = state == ValueState::kStored || state == ValueState::kGiven;
    const bool of_loop = i.opcode == Opcode::kGetTupleElement && is_loop(i.operand(0));
    if (!i.shape.is_array() || (!stored && !of_loop)) continue;
    if (stored && (graph.target().role_of(i) == OpRole::kSource || graph.is_result(place))) continue;
    found.push_back({-safe_logical_bytes(i.shape), place});
  }
  std::sort(found.begin(), found.end());
  std::vector<const Instruction*> arrays;
  for (size_t k = 0; k < std::min(most, found.size()); ++k) arrays.push_back(&graph.at(found[k].second));
  return arrays;
}

Instruction& read_of(const Instruction& member, size_t read) {
  return is_loop(member) ? *member.operand(0).operands[read] : *member.operands[read];
}

std::vector<int32_t> members_of_pass(const ValueGraph& graph, const StreamCluster& cluster, int32_t pass) {
  std::vector<bool> is_made(static_cast<size_t>(graph.size()), false);
  std::vector<int32_t> made, open;
  for (const std::set<GraphLeaf>* wanted : {&cluster.outputs, &cluster.sums}) {
    for (const GraphLeaf& array : *wanted) {
      if (cluster.members.at(array.place).pass == pass) open.push_back(array.place);
    }
  }
  for (const auto& [sum, into] : cluster.added_into) {
    if (cluster.members.at(sum.place).pass == pass) open.push_back(sum.place);
  }
  for (const auto& [place, stays] : cluster.kept) {
    if (std::ranges::find(stays, pass, &Stay::first) != stays.end()) open.push_back(place);
  }
  while (!open.empty()) {
    const int32_t place = open.back();
    open.pop_back();
    if (is_made[place]) continue;
    is_made[place] = true;
    made.push_back(place);
    for (const ValueGraph::Read& read : graph.reads(place)) {
      const GraphLeaf array{read.def, read.leaf};
      if (!cluster.is_member(read.def) || cluster.is_sum(array)) continue;
      if (!cluster.is_stored_before(array, pass)) open.push_back(read.def);
    }
  }
  std::ranges::sort(made);
  return made;
}

bool is_made_anew(const ValueGraph& graph, const std::vector<ValueState>& states, int32_t place) {
  const Instruction& made = graph.at(place);
  if (!made.shape.is_array()) return false;
  if (made.opcode == Opcode::kConstant) return true;
  return states[place] == ValueState::kVirtual && !is_heavy(made);
}

bool is_made_anew(const ValueGraph& graph, const std::vector<ValueState>& states, const StreamCluster& cluster,
                  int32_t place) {
  if (!is_made_anew(graph, states, place)) return false;
  return cluster.consumed.empty() || !reads_consumed(graph, states, cluster, place);
}

}  // namespace lowtide::engine
