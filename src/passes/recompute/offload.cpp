#include "passes/recompute/offload.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "analysis/uses.h"
#include "passes/execute/spell_host_moves.h"
#include "passes/recompute/lives.h"
#include "passes/recompute/making.h"
#include "passes/recompute/order.h"
#include "passes/rewrite.h"
#include "passes/rules/recipe.h"
#include "passes/rules/saved_stacks.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kSmallest = int64_t{1} << 20;  ///< bytes: moving smaller values doesn't pay

/// A value that can be moved.
struct Leaving {
  Instruction* value = nullptr;
  Instruction* update = nullptr;  ///< of a stack: the update in the loop that fills it
  int64_t bytes = 0;
};

/// A moment of the entry: the fullest one, or a given one.
class LeavingAt {
 public:
  explicit LeavingAt(Module& module, const Instruction* moment = nullptr)
      : module_(module),
        uses_(*module.entry),
        is_virtual_(find_virtual_values(module)),
        lives_(*module.entry, is_virtual_),
        moment_(moment ? lives_.place_of(*moment) : lives_.fullest()),
        fixed_(find_fixed(*module.entry)) {
    find_stacks();
  }

  const Instruction& moment() const { return lives_.at(moment_); }

  /// The largest value that can be moved, the first of equally large ones; with 0 bytes: there is none.
  Leaving find_largest() {
    Leaving best;
    for (int32_t p = 0; p < moment_; ++p) {
      if (lives_.bytes(p) < std::max(kSmallest, best.bytes + 1)) continue;
      if (const Leaving one = leaving(lives_.at(p)); one.bytes > 0) best = one;
    }
    return best;
  }

  /// The value, if it can be moved.
  Leaving leaving(Instruction& i) {
    const int32_t p = lives_.place_of(i);
    if (p >= moment_ || lives_.last_read(p) < moment_ || is_back(i)) return {};
    if (const auto stack = stacks_.find(&i); stack != stacks_.end()) return {&i, stack->second, lives_.bytes(p)};
    const bool goes = lives_.last_read(p) > moment_ && !fixed_.contains(&i) && find_late(i);
    return goes ? Leaving{&i, nullptr, lives_.bytes(p)} : Leaving();
  }

  void move(const Leaving& leaving) {
    if (leaving.update) {
      place_in(leaving.update->shape, kHostMemory);
      place_in(leaving.value->shape, kHostMemory);
      return;
    }
    find_late(*leaving.value);
    Computation& entry = *module_.entry;
    Names names(entry);
    const auto made = [&](const Instruction& like, std::vector<Instruction*> operands) {
      auto copy = copy_of(like);
      copy->name = names.unused(like.name);
      copy->operands = std::move(operands);
      return entry.append(std::move(copy));
    };
    const auto moved = [&](Instruction& value, int64_t memory_space) {
      Instruction* copy = made(*leaving.value, {&value});
      turn_into(*copy, Opcode::kCopy, {&value});
      place_in(copy->shape, memory_space);
      return copy;
    };
    Instruction* there = moved(*leaving.value, kHostMemory);
    std::vector<Instruction*> back{moved(*there, 0)};
    InstructionMap by{{leaving.value, back[0]}};
    for (Instruction* i : chain_) {
      std::vector<Instruction*> operands = i->operands;
      read_instead(operands, by);
      back.push_back(by[i] = made(*i, std::move(operands)));
    }
    for (Instruction* reader : late_) read_instead(reader->operands, by);
    put_in_order(*leaving.value, *there, back);
  }

 private:
  static bool is_back(const Instruction& i) { return i.opcode == Opcode::kCopy && is_in_host(i.operand(0).shape); }

  void find_stacks() {
    const Callers callers = count_callers(module_);
    const Uses uses(module_);
    for (Instruction* loop : free_loops(module_)) {
      if (loop->parent != module_.entry) continue;
      SavedStacks saved(*loop, uses, callers);
      for (const SavedStack& s : saved.all()) {
        if (s.may_go && !s.reads.empty()) stacks_[s.result] = s.update;
      }
    }
  }

  /// Fills chain_, the aliases and virtual values before the moment through which later readers read the value, and
  /// late_, those readers. False: some reader can't use the copy that comes back.
  bool find_late(Instruction& value) {
    chain_.clear();
    late_.clear();
    std::unordered_set<const Instruction*> late, chain;
    std::vector<Instruction*> open{&value};
    for (size_t k = 0; k < open.size(); ++k) {
      for (const Instruction* u : uses_.of(*open[k])) {
        const int32_t p = lives_.place_of(*u);
        if (p > moment_) {
          if (late.insert(u).second) late_.push_back(const_cast<Instruction*>(u));
        } else if (lives_.last_read(p) > moment_ && sees_through(*u)) {
          if (!u->shape.is_array() || fixed_.contains(u)) return false;
          if (chain.insert(u).second) open.push_back(const_cast<Instruction*>(u));
        } else if (p == moment_) {
          return false;
        }
      }
    }
    chain_.assign(open.begin() + 1, open.end());
    std::ranges::sort(chain_, {}, [&](const Instruction* i) { return lives_.place_of(*i); });
    return !late_.empty();
  }

  /// Do its readers read its operands' bytes?
  bool sees_through(const Instruction& i) const {
    const auto id = static_cast<size_t>(i.id);
    const bool hands_on = i.opcode == Opcode::kTuple || i.opcode == Opcode::kGetTupleElement;
    return hands_on || Lives::is_name(i) || (id < is_virtual_.size() && is_virtual_[id]);
  }

  /// Puts the copy in host memory after the value, and the copies that come back before the first late reader.
  void put_in_order(const Instruction& value, Instruction& there, const std::vector<Instruction*>& back) {
    std::unordered_set<const Instruction*> added(back.begin(), back.end());
    added.insert(&there);
    const std::unordered_set<const Instruction*> late(late_.begin(), late_.end());
    std::vector<Instruction*> order;
    bool is_back = false;
    for (const auto& i : module_.entry->instructions()) {
      if (added.contains(i.get())) continue;
      if (!is_back && late.contains(i.get())) {
        order.insert(order.end(), back.begin(), back.end());
        is_back = true;
      }
      order.push_back(i.get());
      if (i.get() == &value) order.push_back(&there);
    }
    module_.entry->reorder(order);
  }

  Module& module_;
  const Uses uses_;
  const std::vector<bool> is_virtual_;
  const Lives lives_;
  const int32_t moment_;
  const std::unordered_set<const Instruction*> fixed_;
  std::unordered_map<const Instruction*, Instruction*> stacks_;  ///< by result: the update that fills it
  std::vector<Instruction*> chain_, late_;
};

PassResult result_of(Module& module, int64_t moved) {
  PassResult result;
  spell_host_values(module);
  result.count = moved;
  result.changed = moved > 0;
  result.note = fmt::format("{} values wait in host memory", moved);
  if (result.changed) module.is_scheduled = false;
  return result;
}

}  // namespace

Result<PassResult> offload(Module& module, int64_t count, std::vector<Offloaded>* done) {
  put_in_good_order(*module.entry);
  int64_t moved = 0;
  for (; moved < count; ++moved) {
    LeavingAt at(module);
    const Leaving leaving = at.find_largest();
    if (leaving.bytes == 0) break;
    if (done) done->push_back({leaving.value->name, at.moment().name});
    at.move(leaving);
  }
  return result_of(module, moved);
}

Result<PassResult> offload_alike(Module& module, const std::vector<Offloaded>& done) {
  put_in_good_order(*module.entry);
  int64_t moved = 0;
  for (const Offloaded& one : done) {
    Instruction *value = nullptr, *moment = nullptr;
    for (const auto& i : module.entry->instructions()) {
      if (i->name == one.value) value = i.get();
      if (i->name == one.moment) moment = i.get();
    }
    if (!value || !moment) continue;
    LeavingAt at(module, moment);
    const Leaving leaving = at.leaving(*value);
    if (!leaving.value) continue;
    at.move(leaving);
    ++moved;
  }
  return result_of(module, moved);
}

int64_t offloadable(const Module& module) {
  const std::unique_ptr<Module> trial = module.clone();
  const auto all = offload(*trial, std::numeric_limits<int64_t>::max());
  return all.ok() ? all->count : 0;
}

}  // namespace lowtide::engine
