#include "analysis/liveness.h"

#include <algorithm>

namespace lowtide::engine {
namespace {

/// These only pass on values; only the readers of their results read the values.
bool is_transparent(Opcode opcode) {
  return opcode == Opcode::kTuple || opcode == Opcode::kGetTupleElement || opcode == Opcode::kDomain;
}

class FindLiveness {
 public:
  FindLiveness(const Module& module, const Leaves& leaves, const Timeline& timeline, const Values& values,
               const Donation& donation, const VirtualFlags& is_virtual)
      : module_(module),
        leaves_(leaves),
        timeline_(timeline),
        values_(values),
        donation_(donation),
        virtual_(is_virtual) {
    const size_t count = values.of_leaf.size();
    out_.first = values.step_of;
    out_.last.assign(count, kNoStep);
    out_.last_reader.assign(count, nullptr);
    out_.is_result.assign(count, false);
    seen_.assign(static_cast<size_t>(module.id_limit()), kNoStep);
  }

  Liveness run() {
    for (size_t s = 0; s < timeline_.steps.size(); ++s) {
      const Instruction& i = *timeline_.steps[s].instruction;
      if (is_transparent(i.opcode)) continue;
      const Frame& frame = timeline_.frames[timeline_.frame_of[s]];
      step_ = static_cast<Step>(s);
      reader_ = &i;
      const size_t own = i.opcode == Opcode::kConditional ? 1 : 0;  // its predicate
      const size_t read_here = passes_operands_on(i) ? std::min(own, i.operands.size()) : i.operands.size();
      for (size_t o = 0; o < read_here; ++o) read(frame, *i.operands[o], time_of_reading(i));
    }
    extend_roots();
    const auto last_step = static_cast<Step>(timeline_.steps.size());
    extend_arguments(last_step);
    for (size_t l = 0; l < out_.last.size(); ++l) out_.last[l] = std::max(out_.last[l], out_.first[l]);
    return std::move(out_);
  }

 private:
  /// Without XLA's schedule: do only the instructions of the called computations read what the caller gives them? XLA
  /// inlines calls, and its own schedules keep the operands of those that are left until they return.
  bool passes_operands_on(const Instruction& i) const {
    if (virtual_.empty() || (i.opcode != Opcode::kCall && i.opcode != Opcode::kConditional)) return false;
    return std::ranges::all_of(timeline_.callees(step_), [](int32_t callee) { return callee >= 0; });
  }

  /// A loop's initial value is read when the body begins: from then on the carry is a separate value.
  Step time_of_reading(const Instruction& i) const {
    if (i.opcode != Opcode::kWhile) return step_;
    for (const int32_t callee : timeline_.callees(step_)) {
      if (callee < 0) continue;
      const Frame& inside = timeline_.frames[callee];
      if (inside.callee != 1) continue;
      for (const auto& p : inside.computation->instructions()) {
        if (p->opcode != Opcode::kParameter || leaves_.count(*p) == 0) continue;
        const Step at = values_.step_of[inside.first_leaf + leaves_.first(*p)];
        if (at != kNoStep) return at;
      }
    }
    return step_;
  }

  void read(const Frame& frame, const Instruction& operand, Step time) {
    pending_.assign(1, &operand);
    while (!pending_.empty()) {
      const Instruction& at = *pending_.back();
      pending_.pop_back();
      const auto id = static_cast<size_t>(at.id);
      if (!virtual_.empty() && virtual_[id]) {
        // Chains of virtual values may share inputs: each is visited once per reader.
        if (seen_[id] == step_) continue;
        seen_[id] = step_;
        for (const Instruction* below : at.operands) pending_.push_back(below);
        continue;
      }
      const int32_t first = frame.first_leaf + leaves_.first(at);
      for (int32_t l = 0; l < leaves_.count(at); ++l) {
        extend(values_.of_leaf[first + l], time, reader_);
      }
    }
  }

  void extend(int32_t value, Step to, const Instruction* reader) {
    const auto v = static_cast<size_t>(value);
    if (out_.last[v] > to || (out_.last[v] == to && !reader)) return;
    out_.last[v] = to;
    out_.last_reader[v] = reader;
  }

  /// A computation's result is live until its end.
  void extend_roots() {
    for (const Frame& frame : timeline_.frames) {
      const Instruction* root = frame.computation->root;
      if (!root) continue;
      const int32_t first = frame.first_leaf + leaves_.first(*root);
      for (int32_t l = 0; l < leaves_.count(*root); ++l) {
        const int32_t value = values_.of_leaf[first + l];
        if (frame.parent < 0) {
          out_.is_result[value] = true;
          out_.last_reader[value] = nullptr;
          out_.last[value] = frame.end;
        } else {
          extend(value, frame.end, frame.caller);
        }
      }
    }
  }

  /// Arguments are live from the beginning; those that aren't donated, to the end.
  void extend_arguments(Step end) {
    if (!module_.entry || timeline_.frames.empty()) return;
    const std::vector<Instruction*> parameters = module_.entry->parameters();
    for (const Instruction* p : parameters) {
      if (!p) continue;
      for (int32_t l = 0; l < leaves_.count(*p); ++l) {
        const auto leaf = static_cast<size_t>(leaves_.first(*p) + l);
        out_.first[leaf] = 0;
        if (!donation_.donated[leaf]) out_.last[leaf] = end;
      }
    }
  }

  const Module& module_;
  const Leaves& leaves_;
  const Timeline& timeline_;
  const Values& values_;
  const Donation& donation_;
  const VirtualFlags& virtual_;
  std::vector<Step> seen_;
  std::vector<const Instruction*> pending_;
  const Instruction* reader_ = nullptr;
  Step step_ = 0;
  Liveness out_;
};

}  // namespace

Liveness find_liveness(const Module& module, const Leaves& leaves, const Timeline& timeline, const Values& values,
                       const Donation& donation, const VirtualFlags& is_virtual) {
  return FindLiveness(module, leaves, timeline, values, donation, is_virtual).run();
}

}  // namespace lowtide::engine
