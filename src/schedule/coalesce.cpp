#include "schedule/coalesce.h"

#include <algorithm>

#include "analysis/donation.h"

namespace lowtide::engine {
namespace {

struct Piece {
  Lifetime life;
  ValueId value = kNoId;
};

struct Tie {
  ValueId a = kNoId, b = kNoId;
  int64_t weight = 0;
  bool saves_copy = false;
};

class Coalesce {
 public:
  Coalesce(const Flow& flow, const ValueTable& values, LiveRanges& live, const Donations& donations, InPlace& in_place)
      : flow_(flow), values_(values), live_(live), donations_(donations), in_place_(in_place) {}

  Classes run(InPlaceWays ways) {
    const size_t count = values_.count();
    up_.resize(count);
    classes_.resize(count);
    pieces_.resize(count);
    keep_arguments();
    find_readers();
    for (size_t v = 0; v < count; ++v) {
      up_[v] = static_cast<ValueId>(v);
      ValueClass& c = classes_[v];
      c.values = {static_cast<ValueId>(v)};
      c.bytes = values_.bytes(static_cast<ValueId>(v));
      c.in_host = values_.in_host(static_cast<ValueId>(v));
      c.constant = values_.ref(static_cast<ValueId>(v)).instruction->opcode == Opcode::kConstant;
      for (const Lifetime& life : live_.of[v]) pieces_[v].push_back({life, static_cast<ValueId>(v)});
    }
    pin();
    std::vector<Tie> ties = find_ties();
    std::stable_sort(ties.begin(), ties.end(), [](const Tie& a, const Tie& b) {
      return a.saves_copy != b.saves_copy ? a.saves_copy : a.weight > b.weight;
    });
    if (ways == InPlaceWays::kNone) return finish();
    for (const Tie& tie : ties) try_merge(tie);
    if (ways != InPlaceWays::kKernels) {
      in_place_.allow(ways);
      apart_.clear();
      for (const Tie& tie : ties) try_merge(tie);
    }
    return finish();
  }

 private:
  ValueId find(ValueId v) {
    while (up_[v] != v) v = up_[v] = up_[up_[v]];
    return v;
  }

  /// The caller's arguments keep their values unless they are donated.
  void keep_arguments() {
    for (size_t a = 0; a < flow_.arguments.size(); ++a) {
      LivePieces& pieces = live_.of[flow_.arguments[a]];
      if (!donations_.donated[a]) {
        pieces = {{0, flow_.finish() + 1}};
      } else if (pieces.empty()) {
        pieces = {{0, 1}};
      }
    }
  }

  void find_readers() {
    readers_.resize(values_.count());
    made_in_.assign(values_.count(), 0);
    for (size_t s = 0; s < flow_.steps.size(); ++s) {
      const FlowStep& step = flow_.steps[s];
      for (const ValueId v : step.reads) readers_[v].push_back(static_cast<Step>(s));
      for (const Move& m : step.updates) readers_[m.from].push_back(static_cast<Step>(s));
      for (const Move& m : step.moves) {
        readers_[m.from].push_back(static_cast<Step>(s));
        if (step.kind == FlowKind::kLoopBegin) made_in_[m.to] = step.frame;
      }
      for (const ValueId v : step.writes) made_in_[v] = step.frame;
    }
  }

  void pin() {
    for (size_t a = 0; a < flow_.arguments.size(); ++a) {
      ValueClass& c = classes_[flow_.arguments[a]];
      c.argument = static_cast<int32_t>(a);
      c.donated = donations_.donated[a];
    }
    for (size_t o = 0; o < flow_.outputs.size(); ++o) {
      const int32_t argument = donations_.argument_of_output[o];
      classes_[flow_.outputs[o]].output = static_cast<int32_t>(o);
      // Both are the argument's memory, even if other values are there in between.
      if (argument != kNoId) merge(flow_.arguments[argument], find(flow_.outputs[o]));
    }
  }

  std::vector<Tie> find_ties() const {
    std::vector<Tie> ties;
    std::vector<int32_t> depth(flow_.frames.size(), 0);
    for (size_t f = 1; f < depth.size(); ++f) {
      depth[f] = depth[flow_.frames[f].parent] + (flow_.frames[f].is_loop ? 1 : 0);
    }
    for (const FlowStep& step : flow_.steps) {
      const int64_t runs = int64_t{1} << std::min(12, 3 * depth[step.frame]);
      const auto add = [&](ValueId a, ValueId b, bool saves_copy) {
        if (values_.bytes(a) == values_.bytes(b)) ties.push_back({a, b, values_.bytes(a) * runs, saves_copy});
      };
      for (const Move& m : step.moves) add(m.from, m.to, true);
      for (const Move& m : step.updates) add(m.from, m.to, true);
      if (!step.work) continue;
      for (const ValueId to : step.writes) {
        for (const ValueId from : step.reads) add(from, to, false);
      }
    }
    return ties;
  }

  void try_merge(const Tie& tie) {
    const ValueId a = find(tie.a), b = find(tie.b);
    if (a == b) return;
    const ValueClass &x = classes_[a], &y = classes_[b];
    const bool x_fixed = x.argument != kNoId || x.output != kNoId, y_fixed = y.argument != kNoId || y.output != kNoId;
    const auto note = [&](std::string why) {
      if (tie.saves_copy) apart_.emplace(std::pair(tie.a, tie.b), std::move(why));
    };
    if (x.in_host != y.in_host) {
      note(name(x.in_host ? tie.a : tie.b) + " lies in host memory");
    } else if (x.constant || y.constant) {
      note(name(tie.a) + " is a constant");
    } else if (x_fixed && y_fixed) {
      note(name(tie.a) + " already lies in " + memory_of(x) + ", " + name(tie.b) + " must lie in " + memory_of(y));
    } else if (const auto [p, q] = find_clash(a, b); p) {
      note(name(p->value) + " and " + name(q->value) + " are both needed at %" +
           step_name(std::max(p->life.born, q->life.born)));
    } else {
      merge(a, b);
    }
  }

  std::string name(ValueId v) const {
    const LeafRef made = resolve(values_.ref(v));
    const std::string leaf = made.instruction->shape.is_tuple() ? "#" + std::to_string(made.leaf) : "";
    return "%" + made.instruction->name + leaf;
  }
  const std::string& step_name(Step step) const { return flow_.steps[step].instruction->name; }
  static std::string memory_of(const ValueClass& c) {
    return c.argument != kNoId ? "argument " + std::to_string(c.argument) : "result " + std::to_string(c.output);
  }

  std::pair<const Piece*, const Piece*> find_clash(ValueId a, ValueId b) {
    const auto &x = pieces_[a], &y = pieces_[b];
    size_t first = 0;  // pieces of y before this one died before x's current piece was born
    for (const Piece& p : x) {
      while (first < y.size() && y[first].life.dies <= p.life.born) ++first;
      for (size_t i = first; i < y.size() && y[i].life.born < p.life.dies; ++i) {
        if (!p.life.overlaps(y[i].life) || meets_in_place(p, y[i])) continue;
        const bool p_first = p.life.born < y[i].life.born;
        if (!read_beside(p_first ? p : y[i], p_first ? y[i] : p)) return {&p, &y[i]};
      }
    }
    return {nullptr, nullptr};
  }

  /// Does the later value update a part of the earlier one, and does nothing read that part afterwards?
  bool read_beside(const Piece& earlier, const Piece& later) {
    const ValueClass& memory = classes_[find(earlier.value)];
    if (memory.argument != kNoId && !memory.donated) return false;  // the caller reads it after the program
    const Step at = later.life.born;
    const FlowStep& update = flow_.steps[at];
    // In another loop, readers before the update run again after it.
    if (update.frame != made_in_[earlier.value]) return false;
    for (const Step reader : readers_[earlier.value]) {
      if (reader < at || reader >= earlier.life.dies) continue;
      const FlowStep& step = flow_.steps[reader];
      if (step.frame != update.frame) return false;
      if (reader == at ? !in_place_.may(at, earlier.value, later.value)
                       : !in_place_.reads_beside(reader, earlier.value, at, later.value)) {
        return false;
      }
    }
    return in_place_.updates(at, later.value);
  }

  /// Does one end at the step at which the other begins, and may that step overwrite what it reads?
  bool meets_in_place(const Piece& p, const Piece& q) {
    const Piece& early = p.life.born < q.life.born || (p.life.born == q.life.born && p.life.dies < q.life.dies) ? p : q;
    const Piece& late = &early == &p ? q : p;
    const Step at = late.life.born;
    if (early.life.dies != at + 1) return false;
    if (in_place_.may(at, early.value, late.value)) return true;
    return early.life.born == at && late.life.dies == at + 1 && in_place_.may(at, late.value, early.value);
  }

  void merge(ValueId a, ValueId b) {
    if (classes_[a].values.size() < classes_[b].values.size()) std::swap(a, b);
    ValueClass &x = classes_[a], &y = classes_[b];
    up_[b] = a;
    x.values.insert(x.values.end(), y.values.begin(), y.values.end());
    if (x.argument == kNoId) x.argument = y.argument;
    if (x.output == kNoId) x.output = y.output;
    x.donated = x.donated || y.donated;
    auto &to = pieces_[a], &from = pieces_[b];
    const auto middle = static_cast<std::ptrdiff_t>(to.size());
    to.insert(to.end(), from.begin(), from.end());
    std::inplace_merge(to.begin(), to.begin() + middle, to.end(),
                       [](const Piece& p, const Piece& q) { return p.life.born < q.life.born; });
    y.values.clear();
    from.clear();
  }

  Classes finish() {
    Classes out;
    std::vector<int32_t> number(up_.size(), kNoId);
    out.of.resize(up_.size(), kNoId);
    for (size_t v = 0; v < up_.size(); ++v) {
      // Values without pieces, such as other names of carries, need no memory.
      if (pieces_[find(static_cast<ValueId>(v))].empty()) continue;
      int32_t& n = number[find(static_cast<ValueId>(v))];
      if (n == kNoId) {
        n = static_cast<int32_t>(out.all.size());
        out.all.push_back(std::move(classes_[find(static_cast<ValueId>(v))]));
      }
      out.of[v] = n;
    }
    out.apart = std::move(apart_);
    return out;
  }

  const Flow& flow_;
  const ValueTable& values_;
  LiveRanges& live_;
  const Donations& donations_;
  InPlace& in_place_;
  std::vector<std::vector<Step>> readers_;  ///< by value
  std::vector<int32_t> made_in_;            ///< by value: its frame; for a carry, that of its loop
  std::vector<ValueId> up_;
  std::map<std::pair<ValueId, ValueId>, std::string> apart_;
  std::vector<ValueClass> classes_;         ///< by representative
  std::vector<std::vector<Piece>> pieces_;  ///< by representative, by birth
};

}  // namespace

Donations find_donations(const Module& module, const Partitioning& sizes) {
  const Leaves leaves(module);
  const Donation donation = find_donation(module, leaves, sizes, /*with_donors=*/true);
  Donations out;
  std::vector<int32_t> number(static_cast<size_t>(std::max<int64_t>(0, leaves.count(*module.entry))), kNoId);
  for (const Instruction* p : module.entry->parameters()) {
    if (!p) continue;
    for (int32_t l = 0; l < leaves.count(*p); ++l) {
      const auto leaf = static_cast<size_t>(leaves.first(*p) + l);
      number[leaf] = static_cast<int32_t>(out.donated.size());
      out.donated.push_back(donation.donated[leaf]);
    }
  }
  out.argument_of_output.assign(static_cast<size_t>(leaves.count(*module.entry->root)), kNoId);
  for (const Donation::Pair& pair : donation.pairs) {
    out.argument_of_output[pair.result] = number[pair.argument];
  }
  return out;
}

Classes coalesce(const Flow& flow, ValueTable& values, LiveRanges& live, const Donations& donations, InPlace& in_place,
                 InPlaceWays ways) {
  return Coalesce(flow, values, live, donations, in_place).run(ways);
}

}  // namespace lowtide::engine
