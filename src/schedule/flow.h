#pragma once
/// The program as one sequence of steps, in terms of values: what each step reads and writes, and what moves into and
/// out of loop carries. Bodies of loops are laid out once (condition, then body), branches end to end.

#include <memory>

#include "plan/problem.h"
#include "schedule/kernel_way.h"
#include "schedule/values.h"

namespace lowtide::engine {

/// Value `to` continues value `from`; all moves of one step happen at once.
struct Move {
  ValueId from = kNoId, to = kNoId;
};

enum class FlowKind : uint8_t {
  kWork,       ///< region, library or other
  kLoopBegin,  ///< initial values -> carries
  kLoopTest,   ///< reads the condition's result; leaves or goes on to the body
  kLoopNext,   ///< the body's root -> carries
  kLoopEnd,    ///< carries hold the results
  kBranch,     ///< reads the predicate of a conditional
  kBranchEnd,  ///< a branch's root -> the conditional's results
  kJoin,       ///< after the branches
  kFinish,     ///< the entry's root -> outputs
};

struct FlowStep {
  FlowKind kind = FlowKind::kWork;
  const Work* work = nullptr;
  const Instruction* instruction = nullptr;  ///< that names the step
  std::vector<ValueId> reads, writes;        ///< as the work lists them
  std::vector<Move> moves;
  /// kWork: `from` must lie in `to`'s bytes before the step runs (updates in place); they share bytes if possible.
  std::vector<Move> updates;
  ValueId scratch = kNoId;
  std::shared_ptr<const KernelWay> way;  ///< of a region whose results lie over operands that it still reads
  int32_t frame = 0;
};

/// Steps that run under one control instruction: a loop's condition and body, or one branch.
struct FlowFrame {
  const Instruction* control = nullptr;  ///< null: the entry
  int32_t parent = kNoId;
  Step begin = 0, end = 0;  ///< loop: kLoopBegin and kLoopEnd; branch: its first step and kBranchEnd. Both inclusive
  Step test = 0;            ///< loop: kLoopTest
  Step outside = 0;         ///< branch: kBranch, in the parent
  bool is_loop = false;
};

struct Flow {
  std::vector<FlowStep> steps;
  std::vector<FlowFrame> frames;
  std::vector<ValueId> arguments, outputs;  ///< per leaf of the entry: parameters, final places of results
  Step finish() const { return static_cast<Step>(steps.size()) - 1; }
};

/// The work of each computation in the order in which it runs.
using WorkOrder = std::unordered_map<const Computation*, std::vector<const Work*>>;
WorkOrder given_order(const ModuleWork& work);

Flow lay_out(const Module& module, const Target& target, ValueTable& values, const WorkOrder& order);

}  // namespace lowtide::engine
