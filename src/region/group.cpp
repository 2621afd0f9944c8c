#include "region/group.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analysis/leaf_bytes.h"
#include "analysis/leaves.h"
#include "nest/accesses.h"
#include "ops/op_rule.h"
#include "region/cost.h"
#include "region/region_evaluations.h"
#include "region/region_maker.h"
#include "target/roles.h"

namespace lowtide::engine {
namespace {

constexpr int32_t kMostCode = 800;           ///< code_size of a group; bounds compile time
constexpr size_t kMostOutputs = 16;          ///< arrays that a kernel writes at once
constexpr int64_t kSmallElements = 1024;     ///< such kernels cost little but their start: any two may be merged
constexpr double kShared = 10;               ///< plain operations per element that make a virtual value worth sharing
constexpr double kFarBytes = 4;              ///< bytes that may be stored between two members, relative to their own
constexpr int64_t kLargeElements = 1 << 17;  ///< arrays that no small kernel keeps live while it waits for others
constexpr size_t kCandidates = 4;            ///< groups considered for one shared value
constexpr size_t kMostWaiting = 4;           ///< products that run later so that a group can

struct Group {
  std::vector<int32_t> outputs;  ///< places
  std::vector<LeafRef> inputs;
  std::vector<LeafRef> updated;  ///< of updates in place, whose group has nothing else
  Dims extents;                  ///< of all outputs; of updates, those of the boxes that they write
  int32_t code = 0;
  int32_t at = 0;  ///< when it runs: the place of one of its members
  double bytes = 0;
  bool open = false;  ///< others may be merged into it
  bool heavy = false;
};

class Grouping {
 public:
  Grouping(const ValueGraph& graph, const FormOptions& options, std::vector<ValueState>& states)
      : graph_(graph),
        options_(options),
        shared_ns_(kShared * graph.target().cost().plain_ns()),
        states_(states),
        maker_(graph, states),
        piece_(static_cast<size_t>(graph.size()), kNoId) {}

  std::vector<Draft> run() {
    collect();
    note_readers_of_updated();
    for (int32_t k = 0; k < static_cast<int32_t>(groups_.size()); ++k) join(k);
    hide_inner_outputs();
    return in_order();
  }

 private:
  ValueState state(int32_t place) const { return states_[place]; }
  Group& group(int32_t k) { return groups_[k]; }

  int32_t base(int32_t place) const { return base_of(graph_, states_, place); }

  void collect() {
    double bytes = 0;
    for (int32_t place = 0; place < graph_.size(); ++place) {
      stored_before_.push_back(bytes);
      if (!is_made(state(place))) continue;
      piece_[place] = static_cast<int32_t>(groups_.size());
      groups_.push_back(state(place) == ValueState::kStored ? region_group(place)
                                                            : Group{.outputs = {place}, .at = place});
      bytes += static_cast<double>(safe_logical_bytes(graph_.at(place).shape));
      if (state(place) == ValueState::kGiven) {
        for (const ValueGraph::Read& read : graph_.reads(place)) note_reader(read.def, place);
      }
    }
    for (size_t k = 0; k < groups_.size(); ++k) moved_to_.push_back(static_cast<int32_t>(k));
  }

  Group region_group(int32_t place) {
    const Region region = maker_.make({&place, 1});
    const RegionEvaluations evaluations = evaluations_in(region);
    const Instruction& i = graph_.at(place);
    Group g{.outputs = {place}, .inputs = region.inputs, .code = code_size(region), .at = place};
    g.bytes = static_cast<double>(safe_logical_bytes(i.shape));
    g.heavy = is_heavy(i);
    g.open = i.shape.is_array() && has_element(i) && !asks(options_.store, i);
    if (region.updates[0].instruction) {
      const auto box = rule_of(i.opcode).stored_box;
      g.open &= box != nullptr;
      if (g.open) {
        g.updated = region.updates;
        g.extents = box(i);
      }
    } else if (g.open) {
      g.extents = i.shape.dims;
    }
    const Evaluations root = evaluations_of_root(0, i.shape);
    std::vector<LeafRef>& elementwise = elementwise_[place];
    for (size_t k = 0; k < region.inputs.size(); ++k) {
      const LeafRef& input = region.inputs[k];
      note_reader(graph_.place_of(*input.instruction), place);
      const auto& maps = evaluations.inputs[k];
      const Shape& shape = *leaf_shape(input.instruction->shape, input.leaf);
      const bool own = g.open && g.updated.empty() && shape.dims == g.extents;
      if (own && maps.size() == 1 && maps[0].map == root.map) elementwise.push_back(input);
    }
    for (const LeafRef& updated : region.updates) {
      if (updated.instruction) note_reader(graph_.place_of(*updated.instruction), place);
    }
    for (size_t k = 0; k < region.ops.size(); ++k) {
      if (region.ops[k] != &i && graph_.target().cost().element_ns(*region.ops[k]) >= shared_ns_) {
        shared_[place].push_back({region.ops[k], 0});
      }
    }
    return g;
  }

  /// Notes who reads what is updated, by leaf: states of loops are leaves of one parameter.
  void note_readers_of_updated() {
    for (const Group& g : groups_) {
      for (const LeafRef& updated : g.updated) readers_of_updated_.try_emplace(stored_leaf(updated));
    }
    if (readers_of_updated_.empty()) return;
    for (int32_t place = 0; place < graph_.size(); ++place) {
      if (!is_made(state(place))) continue;
      const auto note = [&](const LeafRef& leaf) {
        const auto found = readers_of_updated_.find(stored_leaf(leaf));
        if (found != readers_of_updated_.end()) found->second.push_back(place);
      };
      const Group& g = groups_[piece_[place]];
      for (const LeafRef& input : g.inputs) note(input);
      for (const LeafRef& updated : g.updated) note(updated);
      if (state(place) != ValueState::kGiven) continue;
      for (const ValueGraph::Read& read : graph_.reads(place)) note({&graph_.at(read.def), read.leaf});
    }
  }

  /// The leaf underlying views.
  LeafRef stored_leaf(LeafRef leaf) const {
    for (int32_t place = graph_.place_of(*leaf.instruction); state(place) == ValueState::kView;) {
      const ValueGraph::Read& read = graph_.reads(place)[0];
      leaf = {&graph_.at(read.def), read.leaf};
      place = read.def;
    }
    return leaf;
  }

  void note_reader(int32_t def, int32_t reader) { readers_[base(def)].push_back(reader); }

  int32_t group_of(int32_t place) const { return find(piece_[base(place)]); }
  int32_t find(int32_t k) const {
    while (k != kNoId && moved_to_[k] != k) k = moved_to_[k];
    return k;
  }

  /// The place after which a value can be read: its group's.
  int32_t made_at(int32_t place) {
    const int32_t k = group_of(place);
    return k == kNoId ? kNoId : group(k).at;
  }

  void join(int32_t k) {
    if (!group(k).open) {
      return;
    }
    const int32_t place = group(k).outputs[0];
    std::vector<int32_t> candidates;
    const auto consider = [&](int32_t other) {
      other = find(other);
      if (other != kNoId && other != k && group(other).open &&
          std::find(candidates.begin(), candidates.end(), other) == candidates.end()) {
        candidates.push_back(other);
      }
    };
    for (const LeafRef& input : elementwise_[place]) consider(group_of(graph_.place_of(*input.instruction)));
    const auto consider_sharers = [&](const LeafRef& leaf) {
      const auto found = sharers_.find(leaf.instruction);
      if (found == sharers_.end()) return;
      const auto& list = found->second;
      for (size_t n = 0; n < std::min(kCandidates, list.size()); ++n) consider(list[list.size() - 1 - n]);
    };
    for (const LeafRef& input : group(k).inputs) {
      if (is_worth_sharing(input, group(k))) consider_sharers(input);
    }
    for (const LeafRef& op : shared_[place]) consider_sharers(op);
    if (is_small(group(k)) && last_small(k) != kNoId) consider(last_small(k));
    std::sort(candidates.rbegin(), candidates.rend());  // the latest first
    int32_t into = k;
    for (const int32_t other : candidates) {
      if (merge(other, k)) {
        into = other;
        break;
      }
    }
    for (const LeafRef& input : group(into).inputs) note_sharer(input, into);
    for (const LeafRef& op : shared_[place]) note_sharer(op, into);
    if (is_small(group(into))) last_small(into) = into;
  }

  /// The last group of few elements and the same extents.
  int32_t& last_small(int32_t k) {
    const Group& g = group(k);
    return last_small_[g.updated.empty() ? 0 : 1].try_emplace(g.extents, kNoId).first->second;
  }

  void note_sharer(const LeafRef& leaf, int32_t k) {
    auto& list = sharers_[leaf.instruction];
    if (list.empty() || list.back() != k) list.push_back(k);
  }

  static int64_t elements(const Dims& extents) { return element_count(Shape::array(ElementType::kPred, extents)); }
  static bool is_small(const Group& g) { return !g.heavy && elements(g.extents) <= kSmallElements; }

  /// Does the array have at least a quarter of the kernel's elements?
  static bool is_worth_sharing(const LeafRef& input, const Group& g) {
    const Shape& shape = *leaf_shape(input.instruction->shape, input.leaf);
    return element_count(shape) >= std::max<int64_t>(2, elements(g.extents) / 4);
  }

  /// Merges group `late` into the earlier `early` if no third piece would have to run between them.
  bool merge(int32_t early, int32_t late) {
    Group& a = group(early);
    Group& b = group(late);
    if (a.extents != b.extents || a.code + b.code > kMostCode || a.outputs.size() + b.outputs.size() > kMostOutputs) {
      return false;
    }
    // Reductions to few elements gain nothing from one loop around both.
    if (a.heavy && b.heavy && elements(a.extents) < kSmallElements) return false;
    const double apart = std::abs(stored_before_[b.at] - stored_before_[a.at]);
    if (apart > kFarBytes * (a.bytes + b.bytes) && a.bytes + b.bytes > kSmallElements * 8) return false;
    bool up = true;
    for (const LeafRef& input : b.inputs) {
      const int32_t def = graph_.place_of(*input.instruction);
      if (group_of(def) == early) {
        const auto& same = elementwise_[b.outputs[0]];
        const bool whole = std::find(same.begin(), same.end(), input) == same.end();
        if (whole || state(def) == ValueState::kView) return false;
      } else {
        up &= made_at(def) < a.at;
      }
    }
    if (a.updated.empty() != b.updated.empty()) return false;
    if (!a.updated.empty() && !(up && may_update_together(early, late))) return false;
    std::vector<int32_t> waiting;  // products that read `a` between the two
    if (!up && (holds_large_input(a) || !can_wait(a, early, b, waiting))) return false;
    if (spoils_in_place(a, b) || spoils_in_place(b, a)) return false;
    if (!up) a.at = b.at;
    for (const int32_t product : waiting) group(product).at = b.at;
    a.outputs.insert(a.outputs.end(), b.outputs.begin(), b.outputs.end());
    a.updated.insert(a.updated.end(), b.updated.begin(), b.updated.end());
    for (const LeafRef& input : b.inputs) {
      if (std::find(a.inputs.begin(), a.inputs.end(), input) == a.inputs.end()) a.inputs.push_back(input);
    }
    a.code += b.code;
    a.bytes += b.bytes;
    a.heavy |= b.heavy;
    moved_to_[late] = early;
    return true;
  }

  /// Can the updates of `late` be made in place in the loops of `early`, where those are? All other readers of what is
  /// updated must have run before; and what one group updates, the other reads only where it is written.
  bool may_update_together(int32_t early, int32_t late) {
    const Group &a = group(early), &b = group(late);
    bool shared = false;
    for (const LeafRef& updated : b.updated) {
      if (made_at(graph_.place_of(*updated.instruction)) >= a.at) return false;
      if (std::ranges::find(a.updated, updated) != a.updated.end()) return false;
      shared |= std::ranges::find(a.inputs, updated) != a.inputs.end();
    }
    for (const LeafRef& updated : a.updated) shared |= std::ranges::find(b.inputs, updated) != b.inputs.end();
    for (const auto* all : {&a.updated, &b.updated}) {
      for (const LeafRef& updated : *all) {
        for (const int32_t reader : readers_of_updated_[stored_leaf(updated)]) {
          const int32_t k = find(piece_[reader]);
          if (k != early && k != late && group(k).at >= a.at) return false;
        }
      }
    }
    return !shared || reads_where_it_writes(a, b);
  }

  /// Does one kernel of all outputs of both groups read what it updates only before it writes there?
  bool reads_where_it_writes(const Group& a, const Group& b) {
    std::vector<int32_t> outputs = a.outputs;
    outputs.insert(outputs.end(), b.outputs.begin(), b.outputs.end());
    const Region region = maker_.make(outputs);
    const Nest nest = lower(region);
    for (size_t o = 0; o < region.updates.size(); ++o) {
      const auto input = std::ranges::find(region.inputs, region.updates[o]);
      if (input == region.inputs.end()) continue;
      const auto from = static_cast<int32_t>(input - region.inputs.begin());
      if (!may_lie_over(nest, static_cast<int32_t>(region.inputs.size() + o), from)) return false;
    }
    return true;
  }

  /// Does `b` read, at other indices, an operand that `a` reads elementwise? Then `a` could no longer overwrite it in
  /// place.
  bool spoils_in_place(const Group& a, const Group& b) {
    for (const LeafRef& input : b.inputs) {
      if (!reads_elementwise(a, input) || reads_elementwise(b, input)) continue;
      const int32_t def = graph_.place_of(*input.instruction);
      if (state(def) == ValueState::kGiven && graph_.at(def).opcode == Opcode::kConstant) continue;
      const Shape& shape = *leaf_shape(input.instruction->shape, input.leaf);
      if (element_count(shape) <= kSmallElements) continue;
      return true;
    }
    return false;
  }

  bool reads_elementwise(const Group& g, const LeafRef& input) {
    for (const int32_t output : g.outputs) {
      const auto& list = elementwise_[output];
      if (std::find(list.begin(), list.end(), input) != list.end()) return true;
    }
    return false;
  }

  /// Does a small group read a large array, which would be live until the group runs?
  bool holds_large_input(const Group& g) const {
    return is_small(g) && std::ranges::any_of(g.inputs, [](const LeafRef& input) {
             return element_count(*leaf_shape(input.instruction->shape, input.leaf)) > kLargeElements;
           });
  }

  /// Can `a` run as late as `b`, because nothing else reads its outputs before, except for products whose results
  /// nothing reads before `b` either? These run after it.
  bool can_wait(const Group& a, int32_t early, const Group& b, std::vector<int32_t>& waiting) {
    for (const int32_t output : a.outputs) {
      for (const int32_t reader : readers_[output]) {
        const int32_t k = find(piece_[reader]);
        if (k == early || group(k).at >= b.at) continue;
        if (!is_product_for_later(group(k), b.at) || waiting.size() == kMostWaiting) return false;
        waiting.push_back(k);
      }
    }
    return true;
  }
  bool is_product_for_later(const Group& g, int32_t at) {
    const int32_t place = g.outputs[0];
    const Opcode opcode = graph_.at(place).opcode;
    if (state(place) != ValueState::kGiven || (opcode != Opcode::kDot && opcode != Opcode::kConvolution)) return false;
    return std::ranges::all_of(readers_[place], [&](int32_t reader) { return group(find(piece_[reader])).at > at; });
  }

  /// Makes values virtual that only their own group reads.
  void hide_inner_outputs() {
    for (size_t k = 0; k < groups_.size(); ++k) {
      Group& g = groups_[k];
      if (moved_to_[k] != static_cast<int32_t>(k) || g.outputs.size() < 2 || !g.updated.empty()) continue;
      std::sort(g.outputs.begin(), g.outputs.end());
      std::erase_if(g.outputs, [&](int32_t output) {
        if (graph_.is_result(output)) return false;
        for (const int32_t reader : readers_[output]) {
          if (find(piece_[reader]) != static_cast<int32_t>(k)) return false;
        }
        for (const ValueGraph::Read& read : graph_.users(output)) {
          if (state(read.user) == ValueState::kView) return false;
        }
        states_[output] = ValueState::kVirtual;
        return true;
      });
    }
  }

  std::vector<Draft> in_order() {
    struct Row {
      int32_t at, behind, place;
      const Group* group;
    };
    std::vector<Row> rows;
    for (size_t k = 0; k < groups_.size(); ++k) {
      if (moved_to_[k] == static_cast<int32_t>(k)) rows.push_back({groups_[k].at, 0, groups_[k].at, &groups_[k]});
    }
    for (int32_t place = 0; place < graph_.size(); ++place) {
      if (state(place) == ValueState::kView) rows.push_back({made_at(place), 1, place, nullptr});
    }
    std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
      return std::tie(a.at, a.behind, a.place) < std::tie(b.at, b.behind, b.place);
    });
    std::vector<Draft> drafts;
    for (const Row& row : rows) {
      if (!row.group) {
        drafts.push_back({{row.place}, false});
      } else {
        drafts.push_back({row.group->outputs, state(row.group->outputs[0]) == ValueState::kStored});
      }
    }
    return drafts;
  }

  const ValueGraph& graph_;
  const FormOptions& options_;
  const double shared_ns_;
  std::vector<ValueState>& states_;
  RegionMaker maker_;
  std::vector<Group> groups_;
  std::vector<int32_t> piece_;     ///< by place: the group that computes it; kNoId: none
  std::vector<int32_t> moved_to_;  ///< by group: itself, or the one it was merged into
  std::vector<double> stored_before_;
  std::unordered_map<int32_t, std::vector<int32_t>> readers_;      ///< of stored values: outputs of other pieces
  std::map<LeafRef, std::vector<int32_t>> readers_of_updated_;     ///< places
  std::unordered_map<int32_t, std::vector<LeafRef>> elementwise_;  ///< inputs read only at the output's own index
  std::unordered_map<int32_t, std::vector<LeafRef>> shared_;       ///< virtual operations worth computing once
  std::unordered_map<const Instruction*, std::vector<int32_t>> sharers_;
  std::map<Dims, int32_t> last_small_[2];  ///< of updates in place: [1]
};

}  // namespace

std::vector<Draft> group_values(const ValueGraph& graph, const FormOptions& options, std::vector<ValueState>& states) {
  return Grouping(graph, options, states).run();
}

}  // namespace lowtide::engine
