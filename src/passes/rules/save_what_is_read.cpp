#include "passes/rules/save_what_is_read.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/leaf_bytes.h"
#include "base/minimum_cut.h"
#include "ir/element_read.h"
#include "passes/rules/recipe.h"
#include "passes/rules/saved_stacks.h"

namespace lowtide::engine {
namespace {

/// Least savings: in bytes of all iterations, and as a part (1/kWorthPart) of what was saved.
constexpr int64_t kSmallestSaving = 1 << 14;
constexpr int64_t kWorthPart = 16;
constexpr int64_t kMostConstantBytes = 1 << 12;

int64_t saved_bytes(const Instruction& i) { return safe_logical_bytes(i.shape); }

/// The values that a later loop computes from what it reads at one place of a loop's stacks.
class Cut {
 public:
  Cut(Instruction& filler, SavedStacks& saved, Instruction& reader, Instruction& place, const Callers& callers)
      : filler_(filler), saved_(saved), place_(place), carry_(reader, callers) {}

  bool run() {
    if (!carry_.ok()) return false;
    find_roots();
    find_given();
    for (const auto& i : carry_.body().instructions()) visit(*i);
    return pays() && rewrite();
  }

 private:
  struct Node {
    Instruction* made = nullptr;
    const SavedStack* stack = nullptr;  ///< of a root; null: computed from others
  };

  void find_roots() {
    for (const SavedStack& s : saved_.all()) {
      for (const StackRead& read : s.reads) {
        if (read.loop->called[1] != &carry_.body() || s.place_of(read) != &place_) continue;
        const bool alone = s.may_go && s.reads.size() == 1;
        stacks_[read.slice] = &s;
        if (alone) add_node(*read.slice, &s);
        free_[read.slice] = !alone;
      }
    }
  }

  void add_node(Instruction& made, const SavedStack* stack) {
    number_[&made] = nodes_.size();
    nodes_.push_back({&made, stack});
  }

  /// Finds values that are invariant in both loops and exist when the first one begins.
  void find_given() {
    std::map<const Instruction*, size_t> position;
    for (const auto& i : filler_.parent->instructions()) position[i.get()] = position.size();
    for (size_t k = 0; k < carry_.size(); ++k) {
      Instruction& initial = carry_.initial(k);
      if (!carry_.is_invariant(k) || !position.contains(&initial)) continue;
      const bool early = position[&initial] < position[filler_.operands[0]];
      bool known = is_given(initial) || initial.opcode == Opcode::kConstant;
      for (size_t e = 0; e < saved_.carry().size(); ++e) {
        known = known || (&saved_.carry().initial(e) == &initial && saved_.carry().is_invariant(e));
      }
      if (!early || !known) continue;
      for (Instruction* read : carry_.reads(k)) {
        given_[read] = &initial;
        free_[read] = true;
      }
    }
  }

  /// The value before barriers, which only separate what is before and after them.
  static Instruction* behind_barriers(Instruction* i) {
    while (Instruction* value = before_barrier(*i)) i = value;
    return i;
  }

  static bool is_movable(const Instruction& i) {
    const bool sum =
        i.opcode == Opcode::kReduce && i.operands.size() == 2 && i.shape.is_array() && i.control_predecessors.empty();
    return is_source(i) || is_light(i) || sum ||
           (i.opcode == Opcode::kConstant && i.shape.is_array() && saved_bytes(i) <= kMostConstantBytes);
  }

  void visit(Instruction& i) {
    if (stacks_.contains(&i) || given_.contains(&i) || behind_barriers(&i) != &i) return;
    const bool hands_on = i.opcode == Opcode::kTuple && &i != i.parent->root;
    if (hands_on || i.opcode == Opcode::kOptBarrier) return visit_bundle(i);
    bool available = is_movable(i) && nodes_.size() < kMostRecipeOps, varies = false;
    for (Instruction* operand : i.operands) {
      const Instruction* value = behind_barriers(operand);
      varies = varies || number_.contains(value);
      available = available && (number_.contains(value) || free_[value]);
    }
    if (available && !varies) free_[&i] = true;
    if (available && varies) add_node(i, nullptr);
    for (Instruction* operand : i.operands) {
      const auto from = number_.find(behind_barriers(operand));
      if (from == number_.end()) continue;
      if (available) {
        edges_.emplace_back(from->second, number_[&i]);
      } else {
        needed_.push_back(from->second);
      }
    }
  }

  /// Elements of a tuple are visited where they are read from a barrier; other tuples need them.
  void visit_bundle(const Instruction& i) {
    if (i.opcode == Opcode::kOptBarrier && i.operand(0).opcode == Opcode::kTuple) return;
    const auto& all = i.parent->instructions();
    const bool into_barrier = std::ranges::all_of(all, [&](const auto& user) {
      return user->opcode == Opcode::kOptBarrier || std::ranges::find(user->operands, &i) == user->operands.end();
    });
    if (into_barrier) return;
    for (Instruction* operand : i.operands) {
      const auto from = number_.find(behind_barriers(operand));
      if (from != number_.end()) needed_.push_back(from->second);
    }
  }

  bool pays() {
    std::vector<int64_t> costs;
    int64_t before = 0, after = 0;
    for (const Node& node : nodes_) {
      costs.push_back(saved_bytes(*node.made));
      if (node.stack) before += costs.back();
    }
    if (before == 0) return false;
    VertexCut cut(costs);
    for (size_t n = 0; n < nodes_.size(); ++n) {
      if (nodes_[n].stack) cut.from_source(n);
    }
    for (const auto& [from, to] : edges_) cut.edge(from, to);
    for (const size_t n : needed_) cut.to_sink(n);
    cut_ = cut.cut();
    for (const size_t n : cut_) after += costs[n];
    const int64_t saved = before - after;
    return saved * saved_.trips() >= kSmallestSaving && saved * kWorthPart >= before;
  }

  /// Carries the values from which it is computed into the first loop.
  void bring(const Instruction& i) {
    if (now_.contains(&i) || stacks_.contains(&i)) return;
    if (const auto given = given_.find(&i); given != given_.end()) {
      now_[&i] = saved_.carry().invariant(*given->second);
      return;
    }
    for (Instruction* operand : i.operands) bring(*behind_barriers(operand));
  }

  /// Computes the value in the first loop, where it is saved.
  Instruction* make(const Instruction& i, Maker& maker) {
    const auto [known, fresh] = now_.try_emplace(&i, nullptr);
    if (!fresh) return known->second;
    Instruction* made = nullptr;
    if (const auto stack = stacks_.find(&i); stack != stacks_.end()) {
      made = maker.reshape(stack->second->value, i.shape.dims);
    } else {
      std::vector<Instruction*> operands;
      for (Instruction* operand : i.operands) operands.push_back(make(*behind_barriers(operand), maker));
      made = maker.copy(i, std::move(operands));
    }
    return now_[&i] = made;
  }

  bool rewrite() {
    for (const size_t n : cut_) {
      if (!nodes_[n].stack) save(*nodes_[n].made);
    }
    return true;
  }

  void save(Instruction& value) {
    bring(value);
    Maker inside(saved_.carry().body());
    Instruction* result = saved_.save(*make(value, inside)).result;

    // In the later loop.
    Instruction* read = carry_.invariant(*result);
    carry_.put_reads_first();
    const std::vector<Instruction*> inner = instructions_of(carry_.body());
    Maker later(carry_.body());
    Dims part{1};
    part.insert(part.end(), value.shape.dims.begin(), value.shape.dims.end());
    std::vector<Instruction*> operands{read, &place_};
    for (size_t d = 1; d < part.size(); ++d) operands.push_back(later.constant(place_.shape.type, 0));
    Instruction* slice =
        later.make(Opcode::kDynamicSlice, Shape::array(value.shape.type, part), operands, DynamicSliceAttributes{part});
    slice = later.reshape(slice, value.shape.dims);
    for (Instruction* i : inner) {
      for (Instruction*& operand : i->operands) {
        if (behind_barriers(operand) == &value) operand = slice;
      }
    }
    put_made(carry_.body(), inner, &value, later.order(), later.order().size(), &value);
  }

  Instruction& filler_;
  SavedStacks& saved_;
  Instruction& place_;
  LoopCarry carry_;                                         ///< of the reading loop
  std::map<const Instruction*, const SavedStack*> stacks_;  ///< by slice in the reading loop
  std::map<const Instruction*, Instruction*> given_;        ///< by read in the reading loop: its initial value
  std::map<const Instruction*, bool> free_;                 ///< computable from values that are saved in any case
  std::map<const Instruction*, size_t> number_;             ///< of nodes
  std::vector<Node> nodes_;
  std::vector<std::pair<size_t, size_t>> edges_;
  std::vector<size_t> needed_, cut_;
  std::map<const Instruction*, Instruction*> now_;  ///< values in the first loop
};

/// Makes one cut, which invalidates earlier analyses.
bool cut_once(Instruction& loop, const Module& module, const Callers& callers) {
  const Uses uses(module);
  SavedStacks saved(loop, uses, callers);
  return std::ranges::any_of(saved.readers(),
                             [&](const auto& p) { return Cut(loop, saved, *p.first, *p.second, callers).run(); });
}

}  // namespace

Result<PassResult> save_what_is_read(Module& module) {
  PassResult result;
  const Callers callers = count_callers(module);
  for (Instruction* loop : free_loops(module)) result.count += cut_once(*loop, module, callers) ? 1 : 0;
  result.changed = result.count > 0;
  result.note = fmt::format("{} loops save less", result.count);
  return result;
}

}  // namespace lowtide::engine
