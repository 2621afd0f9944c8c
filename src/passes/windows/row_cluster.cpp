#include "passes/windows/row_cluster.h"

#include <algorithm>
#include <queue>
#include <tuple>

#include "passes/stream/keep_order.h"

namespace lowtide::engine {
namespace {

constexpr size_t kMostMembers = 4000;
constexpr double kLargePart = 1.0 / 16;  ///< of the seed's bytes: smaller values can be computed whole

class Grower {
 public:
  Grower(const ValueGraph& graph, const std::vector<ValueState>& states, GraphLeaf seed)
      : graph_(graph), states_(states), seed_(seed), large_(bytes_of(graph, seed) * kLargePart) {}

  RowCluster grow(int64_t d) {
    extent_ = shape_of(graph_, seed_).dims[d];
    const Instruction& i = graph_.at(seed_.place);
    if (!i.shape.is_array()) return {};
    open_.push({0, seed_.place, d, 0});
    spread();
    drop_unsteady();
    keep_one_pass();
    if (!cluster_.is_member(seed_.place)) return {};
    find_outputs();
    if (!find_spans()) return {};
    return std::move(cluster_);
  }

 private:
  struct Open {
    int64_t distance;
    int32_t place;
    int64_t dimension, at;
    bool operator>(const Open& o) const {
      return std::tie(distance, place, dimension, at) > std::tie(o.distance, o.place, o.dimension, o.at);
    }
  };

  bool is_virtual(int32_t place) const { return states_[place] == ValueState::kVirtual; }
  GraphLeaf behind(const Instruction& i, size_t operand) const { return array_behind(graph_, i.operand(operand)); }
  int64_t rows_of(int32_t place) const { return graph_.at(place).shape.dims[cluster_.members.at(place).dimension]; }
  bool is_short(int32_t place) const { return 4 * rows_of(place) < 3 * extent_; }

  /// How far from the operand's middle the middle of the result reads, plus the reach, in half rows.
  static int64_t distance(const RowRead& read, int64_t operand_rows, int64_t rows) {
    return std::abs(2 * read.shift + read.reach - (operand_rows - rows)) + read.reach;
  }

  /// Adds members, nearest first: values next to the seed correspond to it row by row.
  void spread() {
    while (!open_.empty()) {
      const Open next = open_.top();
      open_.pop();
      if (cluster_.is_member(next.place) || cluster_.members.size() >= kMostMembers) continue;
      const Instruction& i = graph_.at(next.place);
      if (!graph_.is_live(next.place) || graph_.target().role_of(i) == OpRole::kSource) continue;
      if (i.parent->module().sums_in_order && !rows_keep_order(i, next.dimension, graph_.target())) continue;
      std::optional<RowForm> form = row_form(i, next.dimension);
      if (!form) continue;
      for (size_t p = 0; p < form->pieces.size(); ++p) open_reads(next, i, form->pieces[p], p == form->main);
      cluster_.members.emplace(next.place, {.dimension = next.dimension, .at = next.at, .form = std::move(*form)});
      for (const ValueGraph::Read& read : graph_.users(next.place)) open_user(next, read);
    }
  }

  void open_reads(const Open& from, const Instruction& i, const RowPiece& piece, bool main) {
    for (size_t k = 0; k < piece.reads.size(); ++k) {
      const RowRead& read = piece.reads[k];
      if (read.dimension < 0) continue;
      const GraphLeaf array = behind(i, k);
      if (!graph_.at(array.place).shape.is_array()) continue;
      const int64_t rows = graph_.at(array.place).shape.dims[read.dimension];
      const int64_t own = i.shape.dims[from.dimension];
      const int64_t far = (main ? 0 : 8 * extent_) + distance(read, rows, own);
      open_.push({from.distance + far + 1, array.place, read.dimension, from.at + read.shift + read.reach / 2});
    }
  }

  void open_user(const Open& from, const ValueGraph::Read& use) {
    const Instruction& user = graph_.at(use.user);
    if (!user.shape.is_array() || cluster_.is_member(use.user)) return;
    for (int64_t r = 0; r < user.shape.rank(); ++r) {
      const std::optional<RowForm> form = row_form(user, r);
      if (!form) continue;
      const RowRead* best = nullptr;
      for (const RowPiece& piece : form->pieces) {
        const RowRead& read = piece.reads[use.operand];
        const bool main = &piece == &form->main_piece();
        if (read.dimension == from.dimension && (best == nullptr || main)) best = &read;
      }
      if (best == nullptr) continue;
      const int64_t far = distance(*best, graph_.at(from.place).shape.dims[from.dimension], user.shape.dims[r]);
      open_.push({from.distance + far + 1, use.user, r, from.at - best->shift - best->reach / 2});
      return;
    }
  }

  /// Removes members that read another member whole, or along another dimension; if that member is small, it is removed
  /// instead. A removal makes no other member unsteady.
  void drop_unsteady() {
    for (auto member = cluster_.members.begin(); member != cluster_.members.end();) {
      const int32_t dropped = unsteady_at(member->first, member->second);
      if (dropped == member->first) {
        member = cluster_.members.erase(member);
      } else if (dropped == kNoId) {
        ++member;
      } else {
        cluster_.members.erase(dropped);
      }
    }
  }

  /// The member to remove so that this one can be computed: itself, or one that it reads; kNoId: none.
  int32_t unsteady_at(int32_t place, const RowMember& member) const {
    for (const RowPiece& piece : member.form.pieces) {
      for (size_t k = 0; k < piece.reads.size(); ++k) {
        const RowRead& read = piece.reads[k];
        if (read.dimension == RowRead::kUnread) continue;
        const auto made = cluster_.members.find(behind(graph_.at(place), k).place);
        if (made == cluster_.members.end() || made->second.dimension == read.dimension) continue;
        const bool small = bytes_of(graph_, {made->first, 0}) < large_ && made->first != seed_.place;
        return small ? made->first : place;
      }
    }
    return kNoId;
  }

  /// Keeps only the seed's pass: a member that reads members' values through non-members can't run in the same loop.
  void keep_one_pass() {
    std::vector<int32_t> pass(static_cast<size_t>(graph_.size()), 0);
    for (int32_t place = 0; place < graph_.size(); ++place) {
      const bool is_member = cluster_.is_member(place);
      for (const ValueGraph::Read& read : graph_.reads(place)) {
        const bool leaves = cluster_.is_member(read.def) && !is_member;
        pass[place] = std::max(pass[place], pass[read.def] + (leaves ? 1 : 0));
      }
    }
    const int32_t kept = pass[seed_.place];
    erase_if(cluster_.members, [&](const auto& m) { return pass[m.first] != kept; });
  }

  /// Finds values that others read, unless they are cheap to compute from the inputs: then the readers recompute them.
  void find_outputs() {
    std::vector<bool> light(static_cast<size_t>(graph_.size()), false);
    for (const auto& [place, member] : cluster_.members) {
      bool all = is_virtual(place);
      for (const ValueGraph::Read& read : graph_.reads(place)) {
        if (cluster_.is_member(read.def)) all &= light[read.def];
      }
      light[place] = all;
      const auto users = graph_.users(place);
      const bool outside = graph_.is_result(place) || std::ranges::any_of(users, [&](const ValueGraph::Read& read) {
                             return graph_.is_live(read.user) && !cluster_.is_member(read.user);
                           });
      if (outside && !all) cluster_.outputs.push_back(place);
    }
  }

  /// From outputs to inputs: finds which rows of each value a tile needs, and for which tiles all of these exist.
  bool find_spans() {
    cluster_.first = -extent_;
    cluster_.last = 2 * extent_;
    for (const int32_t place : cluster_.outputs) {
      if (is_short(place)) continue;
      RowMember& member = cluster_.members.at(place);
      member.walked = true;
      member.span = {member.at, member.at};
    }
    bool windows = false;
    for (auto m = cluster_.members.rbegin(); m != cluster_.members.rend(); ++m) {
      const auto& [place, member] = *m;
      if (!member.walked) continue;
      if (is_short(place)) return false;
      const RowPiece& piece = member.form.main_piece();
      bound(member.span, piece.begin, piece.end);
      windows |= member.span.reach() > 0;
      for (size_t k = 0; k < piece.reads.size(); ++k) {
        const RowRead& read = piece.reads[k];
        if (read.dimension < 0) continue;
        const RowSpan wanted{member.span.from + read.shift, member.span.to + read.shift + read.reach};
        windows |= read.reach > 0;
        const GraphLeaf array = behind(graph_.at(place), k);
        if (const auto made = cluster_.members.find(array.place); made != cluster_.members.end()) {
          RowSpan& span = made->second.span;
          made->second.walked ? span.widen(wanted) : (void)(span = wanted);
          made->second.walked = true;
          continue;
        }
        const auto [input, is_new] = cluster_.inputs.try_emplace({array, read.dimension}, wanted);
        input->second.widen(wanted);
        bound(wanted, 0, shape_of(graph_, array).dims[read.dimension]);
        windows |= input->second.reach() > 0;
      }
    }
    return windows && cluster_.first < cluster_.last;
  }

  void bound(const RowSpan& span, int64_t begin, int64_t end) {
    cluster_.first = std::max(cluster_.first, begin - span.from);
    cluster_.last = std::min(cluster_.last, end - span.to);
  }

  const ValueGraph& graph_;
  const std::vector<ValueState>& states_;
  GraphLeaf seed_;
  double large_;
  int64_t extent_ = 0;  ///< of the seed
  RowCluster cluster_;
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open_;
};

}  // namespace

void RowSpan::widen(const RowSpan& other) {
  from = std::min(from, other.from);
  to = std::max(to, other.to);
}

RowCluster grow_rows(const ValueGraph& graph, const std::vector<ValueState>& states, GraphLeaf seed, int64_t d) {
  return Grower(graph, states, seed).grow(d);
}

RowWeight weigh_rows(const ValueGraph& graph, const std::vector<ValueState>& states, const RowCluster& cluster) {
  const Cost& cost = graph.target().cost();
  RowWeight weight;
  weight.ns_per_tile = 2 * cost.kernel_start_ns();
  for (const auto& [place, member] : cluster.members) {
    if (!member.walked) continue;
    const Instruction& i = graph.at(place);
    const bool stored = states[place] == ValueState::kStored || states[place] == ValueState::kGiven;
    const double bytes = bytes_of(graph, {place, 0});
    const double ns = own_ns(i, graph.target()) + (stored ? bytes * cost.streamed_byte_ns() : 0);
    weight.ns += ns;
    weight.ns_per_tile +=
        ns * static_cast<double>(member.span.reach()) / static_cast<double>(i.shape.dims[member.dimension]);
    if (!stored) continue;
    weight.ns_per_tile += cost.kernel_start_ns();
    const bool output = std::ranges::find(cluster.outputs, place) != cluster.outputs.end();
    if (!output) weight.hidden_bytes += bytes;
  }
  // Rows that are kept for later tiles.
  for (const auto& [input, span] : cluster.inputs) {
    const Shape& shape = shape_of(graph, input.array);
    const double row = bytes_of(graph, input.array) / static_cast<double>(shape.dims[input.dimension]);
    weight.ns_per_tile += 2 * row * static_cast<double>(span.reach()) * cost.streamed_byte_ns();
    weight.ns += bytes_of(graph, input.array) * cost.streamed_byte_ns();
  }
  return weight;
}

}  // namespace lowtide::engine
