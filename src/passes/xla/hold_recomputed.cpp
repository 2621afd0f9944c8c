#include "passes/xla/hold_recomputed.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "passes/recompute/lives.h"
#include "passes/recompute/moment.h"
#include "passes/rules/saved_stacks.h"
#include "passes/xla/barrier.h"

namespace lowtide::engine {
namespace {

bool is_recomputed(const Instruction& i) { return i.name.find(kAgain) != std::string::npos; }

/// The recomputed values of one computation.
class Holder {
 public:
  Holder(Computation& computation, const std::vector<bool>& is_virtual)
      : computation_(computation), is_virtual_(is_virtual), names_(computation) {}

  /// Returns the number of barriers.
  int64_t hold() {
    std::vector<Instruction*> run;
    for (Instruction* i : instructions_of(computation_)) {
      if (is_recomputed(*i)) {
        run.push_back(i);
        continue;
      }
      if (!run.empty()) hold(run, *i);
      run.clear();
      place_.emplace(i, std::ssize(order_));
      order_.push_back(i);
    }
    order_.insert(order_.end(), run.begin(), run.end());
    computation_.reorder(order_);
    return barriers_;
  }

 private:
  bool is_virtual(const Instruction& i) const {
    const auto id = static_cast<size_t>(i.id);
    return id < is_virtual_.size() && is_virtual_[id] && i.shape.is_array();
  }

  /// Is it stored anew by an operation of this computation?
  bool is_stored(const Instruction& i) const {
    return i.shape.is_array() && i.opcode != Opcode::kParameter && i.opcode != Opcode::kConstant && !is_virtual(i) &&
           !Lives::is_name(i) && i.opcode != Opcode::kIota;
  }

  /// The latest stored value that `reader` reads, through what is computed where it is read; null: none.
  Instruction* latest_read(const Instruction& reader) const {
    Instruction* latest = nullptr;
    std::unordered_set<const Instruction*> seen;
    std::vector<const Instruction*> open{&reader};
    while (!open.empty()) {
      const Instruction* i = open.back();
      open.pop_back();
      for (Instruction* operand : i->operands) {
        if (!place_.contains(operand) || !seen.insert(operand).second) continue;
        if (is_virtual(*operand) || Lives::is_name(*operand)) open.push_back(operand);
        const bool is_later = latest == nullptr || place_.at(operand) > place_.at(latest);
        if (is_stored(*operand) && is_later) latest = operand;
      }
    }
    return latest;
  }

  Instruction* latest_before() const {
    const auto found = std::find_if(order_.rbegin(), order_.rend(),
                                    [&](const Instruction* i) { return place_.contains(i) && is_stored(*i); });
    return found == order_.rend() ? nullptr : *found;
  }

  /// Recomputed values next to each other in the order, and what they read from outside.
  struct Run {
    std::vector<Instruction*> made, sources;
    std::unordered_map<const Instruction*, Instruction*> again;  ///< of what is computed where it is read
  };

  /// Is it nothing that could be kept: made of nothing, or no array?
  static bool is_free(const Instruction& i) {
    return !i.shape.is_array() || (i.operands.empty() && i.opcode != Opcode::kParameter);
  }

  void add(Instruction& i, Run& run) {
    for (Instruction*& operand : i.operands) {
      if (is_recomputed(*operand) || is_free(*operand)) continue;
      if (!is_virtual(*operand) || !operand->control_predecessors.empty()) {
        if (std::ranges::find(run.sources, operand) == run.sources.end()) run.sources.push_back(operand);
        continue;
      }
      Instruction* copy = run.again[operand];
      if (copy == nullptr) {
        auto made = copy_of(*operand);
        made->name = names_.unused(operand->name + std::string(kAgain));
        copy = run.again[operand] = computation_.append(std::move(made));
        add(*copy, run);
      }
      operand = copy;
    }
    run.made.push_back(&i);
  }

  void hold(const std::vector<Instruction*>& recomputed, const Instruction& reader) {
    Run run;
    for (Instruction* i : recomputed) add(*i, run);
    if (!run.sources.empty()) {
      Instruction* last = latest_read(reader);
      if (last == nullptr) last = latest_before();
      std::vector<Instruction*> values = run.sources;
      const bool waits = last != nullptr && std::ranges::find(values, last) == values.end();
      if (waits) values.insert(values.begin(), last);
      const auto held = put_behind_barrier(computation_, names_, "held", values, waits ? 1 : 0, order_);
      for (Instruction* i : run.made) {
        for (size_t k = waits ? 1 : 0; k < values.size(); ++k) std::ranges::replace(i->operands, values[k], held[k]);
      }
      ++barriers_;
    }
    order_.insert(order_.end(), run.made.begin(), run.made.end());
  }

  Computation& computation_;
  const std::vector<bool>& is_virtual_;
  Names names_;
  std::vector<Instruction*> order_;
  std::unordered_map<const Instruction*, int64_t> place_;  ///< in order_, of instructions that aren't recomputed
  int64_t barriers_ = 0;
};

}  // namespace

Result<PassResult> hold_recomputed(Module& module) {
  PassResult result;
  Computation& entry = *module.entry;
  const auto is_one = [](const auto& i) { return is_recomputed(*i); };
  if (std::ranges::any_of(entry.instructions(), is_one)) {
    result.count = Holder(entry, find_virtual_values(module)).hold();
  }
  result.changed = result.count > 0;
  result.note = fmt::format("{} barriers before recomputed values", result.count);
  return result;
}

}  // namespace lowtide::engine
