#include "passes/xla/hold_recomputed.h"

#include <algorithm>
#include <unordered_set>

#include "passes/recompute/lives.h"
#include "passes/recompute/moment.h"
#include "passes/rules/maker.h"
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
    find_last_readers();
    std::vector<Instruction*> run;
    for (Instruction* i : given_) {
      if (is_recomputed(*i)) {
        run.push_back(i);
        continue;
      }
      if (!run.empty()) hold(run, last_.at(i).place);
      run.clear();
      read_instead(i->operands, now_);
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

  void find_last_readers() {
    given_ = instructions_of(computation_);
    for (size_t k = 0; k < given_.size(); ++k) {
      const auto place = static_cast<int64_t>(k);
      last_[given_[k]] = {place, place};
      for (const Instruction* operand : given_[k]->operands) {
        if (!is_recomputed(*given_[k])) last_[operand].reader = place;
      }
    }
  }

  /// The latest stored value that is read at `place` or later; null: none. Compilers drop from a barrier what nobody
  /// reads through it.
  Instruction* latest(int64_t place) const {
    const auto is_one = [&](const Instruction* i) {
      const auto known = last_.find(i);
      return known != last_.end() && known->second.reader >= place && is_stored(*i) && !is_recomputed(*i);
    };
    const auto found = std::find_if(order_.rbegin(), order_.rend(), is_one);
    return found == order_.rend() ? nullptr : *found;
  }

  /// Recomputed values next to each other in the order, and what they read from outside.
  struct Run {
    std::unordered_set<const Instruction*> own;
    std::vector<Instruction*> made, sources;
    InstructionMap again;  ///< of what is computed where it is read
    InstructionMap held;   ///< sources, behind the barrier
  };

  /// Is it nothing that could be kept: made of nothing, or no array?
  static bool is_free(const Instruction& i) {
    return !i.shape.is_array() || (i.operands.empty() && i.opcode != Opcode::kParameter);
  }

  Instruction* copied(const Instruction& i) {
    auto copy = copy_of(i);
    copy->name = names_.unused(i.name + std::string(kAgain));
    return computation_.append(std::move(copy));
  }

  /// Adds a value after what it reads and is made again with it.
  void add(Instruction& value, Run& run) {
    std::vector<Instruction*> open{&value};
    while (!open.empty()) {
      Instruction& i = *open.back();
      const size_t depth = open.size();
      for (Instruction*& operand : i.operands) {
        if (run.own.contains(operand) || is_free(*operand)) continue;
        if (!is_virtual(*operand) || !operand->control_predecessors.empty()) {
          if (run.held.emplace(operand, nullptr).second) run.sources.push_back(operand);
          continue;
        }
        Instruction*& copy = run.again[operand];
        if (copy == nullptr) {
          copy = copied(*operand);
          run.own.insert(copy);
          open.push_back(copy);
        }
        operand = copy;
        if (open.size() > depth) break;
      }
      if (open.size() > depth) continue;
      run.made.push_back(&i);
      open.pop_back();
    }
  }

  /// Puts the run behind a barrier; `place` is that of its first reader.
  void hold(const std::vector<Instruction*>& recomputed, int64_t place) {
    Run run{.own = {recomputed.begin(), recomputed.end()}};
    for (Instruction* i : recomputed) add(*i, run);
    if (!run.sources.empty()) {
      Instruction* const last = latest(place);
      if (last != nullptr && run.held.emplace(last, nullptr).second) run.sources.push_back(last);
      std::vector<Instruction*> values = run.sources;
      read_instead(values, now_);
      const auto held = put_behind_barrier(computation_, names_, "held", values, 0, order_);
      for (size_t k = 0; k < held.size(); ++k) run.held[run.sources[k]] = held[k];
      for (Instruction* i : run.made) read_instead(i->operands, run.held);
      if (last != nullptr) now_[last] = run.held.at(last);
      ++barriers_;
    }
    order_.insert(order_.end(), run.made.begin(), run.made.end());
  }

  struct Places {
    int64_t place = 0, reader = 0;  ///< its own, and that of its last reader that isn't recomputed
  };

  Computation& computation_;
  const std::vector<bool>& is_virtual_;
  Names names_;
  std::vector<Instruction*> given_, order_;
  std::unordered_map<const Instruction*, Places> last_;
  InstructionMap now_;  ///< values through the last barrier that they have passed
  int64_t barriers_ = 0;
};

}  // namespace

Result<PassResult> hold_recomputed(Module& module) {
  int64_t count = 0;
  const std::vector<bool> is_virtual = find_virtual_values(module);
  for (const auto& computation : module.computations()) {
    if (std::ranges::any_of(computation->instructions(), [](const auto& i) { return is_recomputed(*i); }))
      count += Holder(*computation, is_virtual).hold();
  }
  return rewritten(count, "barriers before recomputed values");
}

}  // namespace lowtide::engine
