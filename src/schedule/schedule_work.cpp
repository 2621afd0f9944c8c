#include "schedule/schedule_work.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "schedule/modelled_time.h"
#include "schedule/plan_work.h"
#include "schedule/search_order.h"
#include "schedule/steps.h"

namespace lowtide::engine {
namespace {

/// A plan with scratch must save at least 1/16 of the arena.
constexpr int64_t kWorthScratch = 16;
constexpr Bytes kMostBytes = std::numeric_limits<Bytes>::max();
/// Moves in place are used without being asked for if the time grows by no more than this factor.
constexpr double kBearable = 1.05;

/// An arena of at least this size saves too little.
Bytes without_worth(const WorkPlan& than) {
  return than.placed.temp_bytes() - than.placed.temp_bytes() / kWorthScratch;
}
bool is_worth_scratch(const WorkPlan& plan, const WorkPlan& than) {
  return plan.placed.temp_bytes() < without_worth(than);
}

/// May there be a result that is its operand in another order, and could take over the operand's memory?
bool may_move(const WorkPlan& plan, NestCache& nests) {
  const auto class_of = [&](ValueId v) { return plan.classes.of[v]; };
  return std::ranges::any_of(plan.flow.steps, [&](const FlowStep& step) {
    if (!step.work || step.work->kind != WorkKind::kRegion || step.reads.size() != 1 || step.writes.size() != 1)
      return false;
    const bool reorders = std::ranges::any_of(step.work->region.ops, [](const Instruction* i) {
      return i->opcode == Opcode::kTranspose || i->opcode == Opcode::kReverse;
    });
    const int32_t from = class_of(step.reads[0]);
    if (!reorders || from == class_of(step.writes[0])) return false;
    const ValueClass& operand = plan.classes.all[from];
    const bool stays = operand.constant || (operand.argument != kNoId && !operand.donated);
    return !stays && nests.rearrangement(*step.work).has_value();
  });
}

class ScheduleWork {
 public:
  ScheduleWork(std::shared_ptr<const Module> module, const ModuleWork& work, const ScheduleOptions& options)
      : module_(std::move(module)),
        work_(work),
        options_(options),
        sizes_(std::make_shared<const Partitioning>(stated_partitioning(*module_))),
        donations_(find_donations(*module_, *sizes_)),
        nests_(options.nests ? options.nests : std::make_shared<KnownNests>(), *work.target),
        packings_(options.packings) {}

  Program run() {
    if (options_.apart) return apart();
    if (options_.choice) {
      if (std::optional<Program> known = chosen(*options_.choice)) return std::move(*known);
    }
    const WorkPlan best = best_plan();
    if (ways() < InPlaceWays::kMoves || !may_move(best, nests_)) return program_of(best);
    const WorkPlan moves = plan(order_, InPlaceWays::kMoves, without_worth(best));
    Program plain = program_of(best);
    if (!moves.has_moves || !is_worth_scratch(moves, best)) return plain;
    Program moved = program_of(moves);
    moved.choice.ways = InPlaceWays::kMoves;
    if (options_.rearrange || modelled_ns(moved, cost()) <= kBearable * modelled_ns(plain, cost())) return moved;
    plain.could_rearrange = true;
    return plain;
  }

 private:
  const Cost& cost() const { return work_.target->cost(); }
  InPlaceWays ways() const { return work_.target->in_place().ways; }

  Program apart() {
    values_.emplace(*module_, work_, sizes_);
    order_ = candidate_orders(*module_, work_, *values_, 0).front();
    return program_of(plan(order_, InPlaceWays::kNone, kMostBytes));
  }

  /// The program with a recorded choice; nothing if the choice can't be this program's.
  std::optional<Program> chosen(const OrderChoice& choice) {
    values_.emplace(*module_, work_, sizes_);
    const std::vector<WorkOrder> orders = candidate_orders(*module_, work_, *values_, options_.search_steps);
    if (choice.order < 0 || choice.order >= std::ssize(orders) || choice.ways > ways()) return {};
    choice_ = choice;
    return program_of(plan(orders[choice.order], choice.ways, kMostBytes));
  }

  /// The best of all candidate orders, or the given one if none is better; with strips only if they save enough.
  WorkPlan best_plan() {
    values_.emplace(*module_, work_, sizes_);
    WorkPlan best;
    bool first = true;
    int32_t number = 0;
    for (const WorkOrder& order : candidate_orders(*module_, work_, *values_, options_.search_steps)) {
      // At equal sizes, the plan with fewer copies.
      const Bytes useless = first ? kMostBytes : best.placed.temp_bytes() + 1;
      WorkPlan tried = plan(order, InPlaceWays::kKernels, useless);
      if (first || tried.better_than(best)) {
        best = std::move(tried);
        order_ = order;
        choice_ = {number, InPlaceWays::kKernels};
      }
      first = false;
      ++number;
    }
    if (ways() < InPlaceWays::kStrips) return best;
    WorkPlan strips = plan(order_, InPlaceWays::kStrips, without_worth(best));
    if (strips.has_strips && is_worth_scratch(strips, best)) {
      best = std::move(strips);
      choice_.ways = InPlaceWays::kStrips;
    }
    return best;
  }

  WorkPlan plan(const WorkOrder& order, InPlaceWays ways, Bytes useless) {
    return plan_work(*module_, *values_, order, donations_, nests_, packings_, ways, useless);
  }

  Program program_of(const WorkPlan& plan);

  const std::shared_ptr<const Module> module_;
  const ModuleWork& work_;
  const ScheduleOptions& options_;
  const std::shared_ptr<const Partitioning> sizes_;
  const Donations donations_;
  NestCache nests_;
  const Packings packings_;
  std::optional<ValueTable> values_;
  WorkOrder order_;  ///< the best
  OrderChoice choice_;
};

Program ScheduleWork::program_of(const WorkPlan& plan) {
  Program program;
  const Flow& flow = plan.flow;
  const Classes& classes = plan.classes;
  const auto reason = [&](const Move& m) {
    const auto why = classes.apart.find({m.from, m.to});
    return why == classes.apart.end() ? std::string() : why->second;
  };
  program.module = module_;
  program.steps =
      emit_steps(flow, classes, plan.loop_moves, plan.placed.hosting, reason, nests_, program.regions, program.kernels);
  program.storages = plan.placed.storages;
  program.slots = plan.placed.slots;
  const auto bytes = [&](ValueId v) { return plan.bytes[v]; };
  const auto in_host = [&](ValueId v) { return classes.all[classes.of[v]].in_host; };
  program.host_temp_bytes = program.host_bytes = plan.placed.host_temp_bytes;
  for (const ValueId v : flow.arguments) {
    program.argument_slots.push_back(classes.of[v]);
    (in_host(v) ? program.host_bytes : program.argument_bytes) += bytes(v);
  }
  for (size_t o = 0; o < flow.outputs.size(); ++o) {
    const ValueId v = flow.outputs[o];
    const bool aliases = donations_.argument_of_output[o] != kNoId;
    program.output_slots.push_back(classes.of[v]);
    if (in_host(v)) {
      program.host_bytes += aliases ? 0 : bytes(v);
    } else {
      program.output_bytes += bytes(v);
      if (aliases) program.alias_bytes += bytes(v);
    }
  }
  for (const FlowStep& step : flow.steps) program.timeline.push_back(step.instruction);
  program.live = plan.placed.live;
  program.temp_bytes = plan.placed.temp_bytes();
  program.load_bytes = plan.placed.load_bytes;
  if (plan.placed.packing.placement.searched) program.packing = plan.placed.packing;
  program.choice = choice_;
  return program;
}

}  // namespace

Program schedule_work(std::shared_ptr<const Module> module, const ModuleWork& work, const ScheduleOptions& options) {
  return ScheduleWork(std::move(module), work, options).run();
}

}  // namespace lowtide::engine
