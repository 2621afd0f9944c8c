#include "codegen/equal_lanes.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace lowtide::engine {
namespace {

constexpr int64_t kMostLanes = 8;  ///< of a group: the bytes in a 64-bit word
constexpr size_t kFewNodes = 8;    ///< repeating their values costs more than computing them in every lane

class Finder {
 public:
  Finder(const Nest& nest, int32_t lane_loop, const std::vector<bool>& varying)
      : nest_(nest), lane_loop_(lane_loop), varying_(varying) {}

  EqualLanes find() {
    const int32_t body = nest_.loops[lane_loop_].body;
    int64_t group = kMostLanes;
    bool any = false;
    for_each_node(body, [&](NodeId id) {
      const int64_t own = group_of_quotient(id);
      if (own > 1) any = true, group = std::min(group, own);
    });
    if (!any) return {};
    EqualLanes equal{static_cast<int32_t>(group), std::vector<bool>(nest_.nodes.size(), false)};
    size_t count = 0;
    for_each_node(body, [&](NodeId id) {
      if (!varies(id) || (group_of_quotient(id) <= 1 && !follows(id, equal))) return;
      equal.nodes[id] = true;
      ++count;
    });
    return count > kFewNodes ? equal : EqualLanes{};
  }

 private:
  const Node& at(NodeId id) const { return nest_.nodes[id]; }
  bool varies(NodeId id) const { return varying_[id]; }
  bool is_lane_index(NodeId id) const { return at(id).kind == NodeKind::kLoopIndex && at(id).loop == lane_loop_; }

  template <class F>
  void for_each_node(int32_t block, const F& f) const {
    if (block == kNoId) return;
    for (const Item& item : nest_.blocks[block].items) {
      if (item.kind == Item::kNode) f(item.id);
      if (item.kind != Item::kLoop) continue;
      for_each_node(nest_.loops[item.id].head, f);
      for_each_node(nest_.loops[item.id].body, f);
    }
  }

  /// For floor((lane index + a term equal in all lanes) / divisor): the size of the groups of equal lanes, a power of
  /// two; 1 for other nodes.
  int64_t group_of_quotient(NodeId id) const {
    const Node& n = at(id);
    if (n.kind != NodeKind::kOperation || n.opcode != Opcode::kDivide || n.type != ElementType::kS64) return 1;
    const Node& divisor = at(n.operands[1]);
    const Node& dividend = at(n.operands[0]);
    if (divisor.kind != NodeKind::kConstant || static_cast<int64_t>(divisor.bits[0]) <= 1) return 1;
    auto common = static_cast<int64_t>(divisor.bits[0]);
    if (!is_lane_index(n.operands[0])) {
      if (dividend.kind != NodeKind::kAffine || dividend.least < 0) return 1;
      common = std::gcd(common, dividend.affine.constant);
      bool once = false;
      for (const auto& term : dividend.affine.terms) {
        if (is_lane_index(term.atom)) {
          if (term.coefficient != 1) return 1;
          once = true;
        } else if (varies(term.atom)) {
          return 1;
        } else {
          common = std::gcd(common, term.coefficient);
        }
      }
      if (!once) return 1;
    }
    return std::min(kMostLanes, int64_t{1} << std::countr_zero(static_cast<uint64_t>(common)));
  }

  /// Are all varying operands computed once per group? Divisions by a variable are excluded, because they need the mask
  /// of running lanes.
  bool follows(NodeId id, const EqualLanes& equal) const {
    const Node& n = at(id);
    if (n.kind == NodeKind::kAffine) {
      return std::ranges::all_of(n.affine.terms,
                                 [&](const Affine::Term& t) { return !varies(t.atom) || equal.has(t.atom); });
    }
    if (n.kind != NodeKind::kOperation && n.kind != NodeKind::kFma) return false;
    const bool divides = n.kind == NodeKind::kOperation && is_integral(n.type) &&
                         (n.opcode == Opcode::kDivide || n.opcode == Opcode::kRemainder);
    if (divides && at(n.operands[1]).kind != NodeKind::kConstant) return false;
    return std::ranges::all_of(n.operands, [&](NodeId o) { return !varies(o) || equal.has(o); });
  }

  const Nest& nest_;
  const int32_t lane_loop_;
  const std::vector<bool>& varying_;
};

}  // namespace

EqualLanes equal_lanes(const Nest& nest, int32_t lane_loop, const std::vector<bool>& varying) {
  return Finder(nest, lane_loop, varying).find();
}

}  // namespace lowtide::engine
