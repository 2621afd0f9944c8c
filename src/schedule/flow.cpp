#include "schedule/flow.h"

#include <algorithm>
#include <unordered_set>

#include "analysis/leaves.h"
#include "region/cost.h"

namespace lowtide::engine {
namespace {

class LayOut {
 public:
  LayOut(const Module& module, const Target& target, ValueTable& values, const WorkOrder& order)
      : module_(module), target_(target), values_(values), order_(order) {}

  Flow run() {
    find_fills();
    flow_.frames.push_back({});
    for (const Instruction* p : module_.entry->parameters()) {
      if (!p) continue;
      for (int64_t l = 0; l < leaf_count(p->shape); ++l) flow_.arguments.push_back(values_.of(p, l));
    }
    computation(*module_.entry, 0);
    const Instruction& root = *module_.entry->root;
    std::vector<Move> moves;
    for (int64_t l = 0; l < leaf_count(root.shape); ++l) {
      const ValueId result = values_.of(&root, l);
      flow_.outputs.push_back(
          values_.add({&root, static_cast<int32_t>(l)}, values_.bytes(result), values_.is_result_in_host(root, l)));
      moves.push_back({filled(result, flow_.outputs.back(), 0), flow_.outputs.back()});
    }
    add(FlowKind::kFinish, &root, 0).moves = std::move(moves);
    flow_.frames[0].end = flow_.finish();
    return std::move(flow_);
  }

 private:
  FlowStep& add(FlowKind kind, const Instruction* instruction, int32_t frame) {
    FlowStep& step = flow_.steps.emplace_back();
    step.kind = kind;
    step.instruction = instruction;
    step.frame = frame;
    return step;
  }
  Step next() const { return static_cast<Step>(flow_.steps.size()); }

  void computation(const Computation& c, int32_t frame) {
    const auto list = order_.find(&c);
    if (list == order_.end()) return;
    for (const Work* w : list->second) {
      switch (w->kind) {
        case WorkKind::kRegion: region(*w, frame); break;
        case WorkKind::kLibrary:
        case WorkKind::kOther: whole(*w, frame); break;
        case WorkKind::kControl:
          w->instruction->opcode == Opcode::kWhile ? loop(*w->instruction, frame) : branches(*w->instruction, frame);
          break;
        case WorkKind::kView: break;
      }
    }
  }

  /// Finds regions that read nothing and cost no more than a copy of their result. If a value of this kind only starts
  /// carries, is updated or is a result, it is computed there, once for each: two carries or two scatters that start
  /// with zeros don't share them.
  void find_fills() {
    for (const auto& [computation, list] : order_) {
      for (const Work* w : list) {
        if (w->kind == WorkKind::kRegion) {
          const Region& r = w->region;
          const bool alone = r.inputs.empty() && r.outputs.size() == 1 && !has_update(r);
          if (alone && is_fill(r)) {
            fills_.emplace(values_.of(r.outputs[0]), w);
          }
          for (const LeafRef& in : r.inputs) read_.insert(values_.of(in));
        } else if (w->kind != WorkKind::kView) {
          for (const LeafRef& in : operand_leaves(*w->instruction)) {
            if (w->kind != WorkKind::kControl) read_.insert(values_.of(in));
          }
          if (w->kind == WorkKind::kControl) read_control(*w->instruction);
        }
      }
    }
  }

  bool is_fill(const Region& r) {
    const Cost& cost = target_.cost();
    const auto bytes = static_cast<double>(values_.bytes(values_.of(r.outputs[0])));
    return kernel_ns(r, cost) <= 3 * cost.byte_ns() * bytes + cost.kernel_start_ns();
  }

  static bool has_update(const Region& r) {
    return std::any_of(r.updates.begin(), r.updates.end(), [](const LeafRef& u) { return u.instruction; });
  }

  void read_control(const Instruction& i) {
    if (i.opcode == Opcode::kConditional) {
      read_.insert(values_.of(i.operands[0], 0));
      return;
    }
    read_.insert(values_.of(i.called[0]->root, 0));
    // A value that a loop only reads is no carry.
    for (int64_t l = 0; l < leaf_count(i.shape); ++l) {
      if (values_.passes(i, l)) read_.insert(values_.of(&i, l));
    }
  }

  /// The source of a move or an update: the value itself or, for a fill, a copy computed just before in `to`'s memory.
  ValueId filled(ValueId from, ValueId to, int32_t frame) {
    const auto fill = fills_.find(from);
    if (fill == fills_.end()) return from;
    FlowStep& step = add(FlowKind::kWork, fill->second->region.ops.back(), frame);
    step.work = fill->second;
    step.writes = {values_.add(values_.ref(from), values_.bytes(from), values_.in_host(to))};
    return step.writes[0];
  }

  void region(const Work& w, int32_t frame) {
    const Region& r = w.region;
    if (r.outputs.size() == 1) {
      const ValueId made = values_.of(r.outputs[0]);
      if (fills_.contains(made) && !read_.contains(made)) return;
    }
    std::vector<Move> updates;
    for (size_t o = 0; o < r.updates.size(); ++o) {
      if (!r.updates[o].instruction) continue;
      const ValueId from = values_.of(r.updates[o]), to = values_.of(r.outputs[o]);
      // What is stored for other readers anyway is copied or written over, like other values.
      updates.push_back({read_.contains(from) ? from : filled(from, to, frame), to});
    }
    FlowStep& step = add(FlowKind::kWork, r.ops.back(), frame);
    step.work = &w;
    for (const LeafRef& in : r.inputs) step.reads.push_back(values_.of(in));
    for (const LeafRef& out : r.outputs) step.writes.push_back(values_.of(out));
    step.updates = std::move(updates);
  }

  void whole(const Work& w, int32_t frame) {
    const Instruction& i = *w.instruction;
    FlowStep& step = add(FlowKind::kWork, &i, frame);
    step.work = &w;
    for (const LeafRef& in : operand_leaves(i)) step.reads.push_back(values_.of(in));
    for (int64_t l = 0; l < leaf_count(i.shape); ++l) step.writes.push_back(values_.of(&i, l));
    if (w.kind != WorkKind::kLibrary) return;
    const int64_t scratch = target_.scratch_bytes(i);
    if (scratch > 0) step.scratch = values_.add({&i, 0}, scratch);
  }

  int32_t open(const Instruction& control, int32_t parent, Step outside, bool is_loop) {
    flow_.frames.push_back({&control, parent, next(), 0, 0, outside, is_loop});
    return static_cast<int32_t>(flow_.frames.size()) - 1;
  }

  void loop(const Instruction& i, int32_t parent) {
    const Computation &condition = *i.called[0], &body = *i.called[1];
    std::vector<Move> begin, again;
    for (int64_t l = 0; l < leaf_count(i.shape); ++l) {
      if (values_.passes(i, l)) continue;
      const ValueId carry = values_.of(&i, l);
      begin.push_back({filled(values_.of(i.operands[0], l), carry, parent), carry});
      again.push_back({values_.of(body.root, l), carry});
    }
    const int32_t frame = open(i, parent, next(), true);
    add(FlowKind::kLoopBegin, &i, frame).moves = std::move(begin);
    computation(condition, frame);
    flow_.frames[frame].test = next();
    add(FlowKind::kLoopTest, condition.root, frame).reads = {values_.of(condition.root, 0)};
    computation(body, frame);
    for (Move& m : again) m.from = filled(m.from, m.to, frame);
    add(FlowKind::kLoopNext, body.root, frame).moves = std::move(again);
    flow_.frames[frame].end = next();
    add(FlowKind::kLoopEnd, &i, frame);
  }

  void branches(const Instruction& i, int32_t parent) {
    const Step outside = next();
    add(FlowKind::kBranch, &i, parent).reads = {values_.of(i.operands[0], 0)};
    for (const Computation* branch : i.called) {
      const int32_t frame = open(i, parent, outside, false);
      computation(*branch, frame);
      std::vector<Move> moves;
      for (int64_t l = 0; l < leaf_count(i.shape); ++l) {
        if (values_.passes(i, l)) continue;
        const ValueId result = values_.of(&i, l);
        moves.push_back({filled(values_.of(branch->root, l), result, frame), result});
      }
      flow_.frames[frame].end = next();
      add(FlowKind::kBranchEnd, branch->root, frame).moves = std::move(moves);
    }
    add(FlowKind::kJoin, &i, parent);
  }

  const Module& module_;
  const Target& target_;
  ValueTable& values_;
  const WorkOrder& order_;
  std::unordered_map<ValueId, const Work*> fills_;
  std::unordered_set<ValueId> read_;
  Flow flow_;
};

}  // namespace

WorkOrder given_order(const ModuleWork& work) {
  WorkOrder order;
  for (const auto& [computation, list] : work.of) {
    std::vector<const Work*>& to = order[computation];
    for (const Work& w : list) to.push_back(&w);
  }
  return order;
}

Flow lay_out(const Module& module, const Target& target, ValueTable& values, const WorkOrder& order) {
  return LayOut(module, target, values, order).run();
}

}  // namespace lowtide::engine
