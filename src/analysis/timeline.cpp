#include "analysis/timeline.h"

#include <algorithm>
#include <unordered_map>

namespace lowtide::engine {
namespace {

constexpr int32_t kDeepest = 200;  // nesting of frames; deeper calls are one step
constexpr int64_t kMostSteps = 1 << 20;

class LayOut {
 public:
  LayOut(const Module& module, const Leaves& leaves, const OrderOf& order) : leaves_(leaves), order_(order) {
    if (module.entry) frame(*module.entry, -1, nullptr, 0, 0);
  }
  Timeline take() {
    out_.first_callee.push_back(static_cast<int32_t>(out_.callee_frames.size()));
    return std::move(out_);
  }

 private:
  /// Returns the frame's number, or -1 if the computation can't be laid out.
  int32_t frame(const Computation& computation, int32_t parent, const Instruction* caller, int32_t callee,
                int32_t depth) {
    const bool recursive = std::find(active_.begin(), active_.end(), &computation) != active_.end();
    const int64_t count = leaves_.count(computation);
    if (recursive || depth > kDeepest || count < 0 || out_.leaf_limit + count > kMostLeaves ||
        static_cast<int64_t>(out_.steps.size() + computation.instructions().size()) > kMostSteps) {
      out_.truncated = true;
      return -1;
    }
    active_.push_back(&computation);
    const auto number = static_cast<int32_t>(out_.frames.size());
    out_.frames.push_back({&computation, parent, caller, callee, depth, static_cast<int32_t>(out_.leaf_limit),
                           static_cast<Step>(out_.steps.size()), 0});
    out_.leaf_limit += count;
    const std::vector<const Instruction*>& instructions = order_of(computation);
    for (const Instruction* instruction : instructions) {
      std::vector<int32_t> callees;
      if (runs_computations(*instruction)) {
        for (size_t c = 0; c < instruction->called.size(); ++c) {
          if (!instruction->called[c]) continue;
          callees.push_back(frame(*instruction->called[c], number, instruction, static_cast<int32_t>(c), depth + 1));
        }
      }
      out_.steps.push_back({instruction, depth, caller});
      out_.frame_of.push_back(number);
      out_.first_callee.push_back(static_cast<int32_t>(out_.callee_frames.size()));
      out_.callee_frames.insert(out_.callee_frames.end(), callees.begin(), callees.end());
    }
    out_.frames[number].end = static_cast<Step>(out_.steps.size());
    active_.pop_back();
    return number;
  }

  const std::vector<const Instruction*>& order_of(const Computation& computation) {
    const auto [it, fresh] = orders_.try_emplace(&computation);
    if (fresh) it->second = order_(computation);
    return it->second;
  }

  const Leaves& leaves_;
  const OrderOf& order_;
  std::unordered_map<const Computation*, std::vector<const Instruction*>> orders_;
  std::vector<const Computation*> active_;
  Timeline out_;
};

}  // namespace

bool runs_computations(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::kWhile:
    case Opcode::kConditional:
    case Opcode::kCall:
    case Opcode::kAsyncStart: return true;
    default: return false;
  }
}

Timeline lay_out(const Module& module, const Leaves& leaves, const OrderOf& order) {
  return LayOut(module, leaves, order).take();
}

}  // namespace lowtide::engine
