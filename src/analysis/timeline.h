#pragma once
/// One linear sequence of steps for the whole program: bodies of loops laid out once in place (condition, then body),
/// branches end to end, calls inlined at every call site; a calling instruction comes after the computations it calls.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analysis/account.h"
#include "analysis/leaves.h"

namespace lowtide::engine {

/// One occurrence of a computation on the timeline.
struct Frame {
  const Computation* computation = nullptr;
  int32_t parent = -1;                  ///< frame of the caller
  const Instruction* caller = nullptr;  ///< null for the entry
  int32_t callee = 0;                   ///< its number among the caller's computations
  int32_t depth = 0;
  int32_t first_leaf = 0;   ///< leaf l of the computation is leaf first_leaf + l of the timeline
  Step begin = 0, end = 0;  ///< its steps, including its callees'
};

struct Timeline {
  std::vector<TimelineStep> steps;
  std::vector<int32_t> frame_of;       ///< step -> frame
  std::vector<Frame> frames;           ///< frames[0] is the entry
  std::vector<int32_t> callee_frames;  ///< for all steps in order; -1: the callee is not laid out
  std::vector<int32_t> first_callee;   ///< step -> its first entry in callee_frames; one more at the end
  int64_t leaf_limit = 0;              ///< the number of leaves of all frames
  bool truncated = false;              ///< some calls are single steps because of nesting, recursion or size

  std::span<const int32_t> callees(Step step) const {
    const auto s = static_cast<size_t>(step);
    return {callee_frames.data() + first_callee[s], callee_frames.data() + first_callee[s + 1]};
  }
};

/// The order in which a computation's instructions run; instructions not in it have no step.
using OrderOf = std::function<std::vector<const Instruction*>(const Computation&)>;

Timeline lay_out(const Module& module, const Leaves& leaves, const OrderOf& order);

/// Does this instruction run its computations as steps (while, conditional, call, async-start), not as one kernel?
bool runs_computations(const Instruction& instruction);

}  // namespace lowtide::engine
