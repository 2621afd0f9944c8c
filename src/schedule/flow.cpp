#include "schedule/flow.h"

#include "analysis/leaves.h"
#include "library/library.h"

namespace lowtide {
namespace {

class LayOut {
 public:
  LayOut(const Module& module, Values& values, const WorkOrder& order)
      : module_(module), values_(values), order_(order) {}

  Flow run() {
    flow_.frames.push_back({});
    for (const Instruction* p : module_.entry->parameters()) {
      if (!p) continue;
      for (int64_t l = 0; l < leaf_count(p->shape); ++l) flow_.arguments.push_back(values_.of(p, l));
    }
    computation(*module_.entry, 0);
    const Instruction& root = *module_.entry->root;
    FlowStep& finish = add(FlowKind::kFinish, &root, 0);
    for (int64_t l = 0; l < leaf_count(root.shape); ++l) {
      const ValueId result = values_.of(&root, l);
      flow_.results.push_back(result);
      flow_.outputs.push_back(values_.add({&root, static_cast<int32_t>(l)}, values_.bytes(result)));
      finish.moves.push_back({result, flow_.outputs.back()});
    }
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

  void region(const Work& w, int32_t frame) {
    const Region& r = w.region;
    FlowStep& step = add(FlowKind::kWork, r.ops.back(), frame);
    step.work = &w;
    for (const LeafRef& in : r.inputs) step.reads.push_back(values_.of(in));
    for (size_t o = 0; o < r.outputs.size(); ++o) {
      step.writes.push_back(values_.of(r.outputs[o]));
      if (o < r.updates.size() && r.updates[o].instruction) {
        step.updates.push_back({values_.of(r.updates[o]), step.writes.back()});
      }
    }
  }

  void whole(const Work& w, int32_t frame) {
    const Instruction& i = *w.instruction;
    FlowStep& step = add(FlowKind::kWork, &i, frame);
    step.work = &w;
    for (const LeafRef& in : operand_leaves(i)) step.reads.push_back(values_.of(in));
    for (int64_t l = 0; l < leaf_count(i.shape); ++l) step.writes.push_back(values_.of(&i, l));
    if (w.kind != WorkKind::kLibrary) return;
    const auto routine = library_routine(i);
    if (routine && routine->scratch_bytes() > 0) step.scratch = values_.add({&i, 0}, routine->scratch_bytes());
  }

  int32_t open(const Instruction& control, int32_t parent, Step outside, bool is_loop) {
    flow_.frames.push_back({&control, parent, next(), 0, 0, outside, is_loop});
    return static_cast<int32_t>(flow_.frames.size()) - 1;
  }

  void loop(const Instruction& i, int32_t parent) {
    const int32_t frame = open(i, parent, next(), true);
    const Computation &condition = *i.called[0], &body = *i.called[1];
    std::vector<Move> begin, again;
    for (int64_t l = 0; l < leaf_count(i.shape); ++l) {
      if (values_.passes(i, l)) continue;
      const ValueId carry = values_.of(&i, l);
      begin.push_back({values_.of(i.operands[0], l), carry});
      again.push_back({values_.of(body.root, l), carry});
    }
    add(FlowKind::kLoopBegin, &i, frame).moves = std::move(begin);
    computation(condition, frame);
    flow_.frames[static_cast<size_t>(frame)].test = next();
    add(FlowKind::kLoopTest, condition.root, frame).reads = {values_.of(condition.root, 0)};
    computation(body, frame);
    add(FlowKind::kLoopNext, body.root, frame).moves = std::move(again);
    flow_.frames[static_cast<size_t>(frame)].end = next();
    add(FlowKind::kLoopEnd, &i, frame);
  }

  void branches(const Instruction& i, int32_t parent) {
    const Step outside = next();
    add(FlowKind::kBranch, &i, parent).reads = {values_.of(i.operands[0], 0)};
    for (const Computation* branch : i.called) {
      const int32_t frame = open(i, parent, outside, false);
      computation(*branch, frame);
      flow_.frames[static_cast<size_t>(frame)].end = next();
      std::vector<Move> moves;
      for (int64_t l = 0; l < leaf_count(i.shape); ++l) {
        if (!values_.passes(i, l)) moves.push_back({values_.of(branch->root, l), values_.of(&i, l)});
      }
      add(FlowKind::kBranchEnd, branch->root, frame).moves = std::move(moves);
    }
    add(FlowKind::kJoin, &i, parent);
  }

  const Module& module_;
  Values& values_;
  const WorkOrder& order_;
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

Flow lay_out(const Module& module, Values& values, const WorkOrder& order) {
  return LayOut(module, values, order).run();
}

}  // namespace lowtide
