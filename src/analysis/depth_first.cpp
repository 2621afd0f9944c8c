#include "analysis/depth_first.h"

#include <algorithm>

#include "analysis/leaf_bytes.h"

namespace lowtide::engine {
namespace {

/// Limits estimates, in which shared operands count at every use: infinities would give NaN differences.
constexpr double kLargest = 1e25;

bool passes_on(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kBitcast:
    case Opcode::kReshape:
    case Opcode::kOptBarrier: return true;
    default: return false;
  }
}

}  // namespace

DepthFirst::DepthFirst(const Module& module, const VirtualFlags& is_virtual)
    : virtual_(is_virtual),
      peak_(static_cast<size_t>(module.id_limit()), 0),
      left_(static_cast<size_t>(module.id_limit()), 0) {
  for (const auto& computation : module.computations()) estimate(*computation);
}

void DepthFirst::estimate(const Computation& computation) {
  std::vector<const Instruction*> operands;
  for (const auto& i : computation.instructions()) {
    const auto id = static_cast<size_t>(i->id);
    if (i->opcode == Opcode::kParameter || i->opcode == Opcode::kConstant) continue;
    operands.assign(i->operands.begin(), i->operands.end());
    const auto gain = [&](const Instruction* o) { return peak_[o->id] - left_[o->id]; };
    std::stable_sort(operands.begin(), operands.end(),
                     [&](const Instruction* a, const Instruction* b) { return gain(a) > gain(b); });
    double held = 0, most = 0;
    for (const Instruction* o : operands) {
      most = std::min(kLargest, std::max(most, held + peak_[o->id]));
      held = std::min(kLargest, held + left_[o->id]);
    }
    if ((!virtual_.empty() && virtual_[id]) || passes_on(*i)) {
      peak_[id] = most;
      left_[id] = held;
      continue;
    }
    double inside = 0;
    for (const Computation* callee : i->called) {
      if (callee && callee->root && callee != &computation) {
        inside = std::max(inside, peak_[callee->root->id]);
      }
    }
    const auto result = static_cast<double>(safe_logical_bytes(i->shape));
    peak_[id] = std::min(kLargest, std::max(most, held + std::max(result, inside)));
    left_[id] = result;
  }
}

std::vector<const Instruction*> DepthFirst::of(const Computation& computation) const {
  std::vector<const Instruction*> order;
  int32_t low = INT32_MAX, high = -1;
  for (const auto& i : computation.instructions()) {
    low = std::min(low, i->id);
    high = std::max(high, i->id);
  }
  if (high < 0) return order;
  std::vector<uint8_t> state(static_cast<size_t>(high - low) + 1, 0);  // 0 new, 1 operands pending, 2 done
  const auto state_of = [&](const Instruction* i) -> uint8_t& { return state[i->id - low]; };
  struct Visit {
    const Instruction* instruction;
    std::vector<const Instruction*> operands;
    size_t next = 0;
  };
  std::vector<Visit> stack;
  const auto enter = [&](const Instruction* i) {
    state_of(i) = 1;
    Visit visit{i, {i->operands.begin(), i->operands.end()}, 0};
    visit.operands.insert(visit.operands.end(), i->control_predecessors.begin(), i->control_predecessors.end());
    std::stable_sort(visit.operands.begin(), visit.operands.end(), [&](const Instruction* a, const Instruction* b) {
      const auto x = static_cast<size_t>(a->id), y = static_cast<size_t>(b->id);
      return peak_[x] - left_[x] > peak_[y] - left_[y];
    });
    stack.push_back(std::move(visit));
  };
  const auto emit_from = [&](const Instruction* root) {
    if (state_of(root) != 0) return;
    enter(root);
    while (!stack.empty()) {
      Visit& top = stack.back();
      if (top.next < top.operands.size()) {
        const Instruction* operand = top.operands[top.next++];
        if (state_of(operand) == 0) enter(operand);
        continue;
      }
      const Instruction* done = top.instruction;
      stack.pop_back();
      state_of(done) = 2;
      if (virtual_.empty() || !virtual_[done->id]) order.push_back(done);
    }
  };
  for (const auto& i : computation.instructions()) {
    if (i->opcode == Opcode::kParameter) emit_from(i.get());
  }
  if (computation.root) emit_from(computation.root);
  for (const auto& i : computation.instructions()) emit_from(i.get());
  return order;
}

}  // namespace lowtide::engine
