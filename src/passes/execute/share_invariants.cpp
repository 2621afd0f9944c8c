#include "passes/execute/share_invariants.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_set>

#include "passes/recompute/making.h"
#include "passes/rewrite.h"
#include "passes/rules/loop_carry.h"

namespace lowtide::engine {
namespace {

constexpr int kDeepest = 32;  ///< the longest chain of operations that is compared

/// Finds equal values of one computation by the operations that compute them.
class Equality {
 public:
  explicit Equality(const Computation& computation) : fixed_(find_fixed(computation)) {}

  bool are_equal(const Instruction& a, const Instruction& b, int depth = 0) {
    if (&a == &b) return true;
    if (depth > kDeepest || a.opcode != b.opcode || a.operands.size() != b.operands.size()) return false;
    if (fixed_.contains(&a) || fixed_.contains(&b) || !same_shape(a.shape, b.shape) || a.called != b.called)
      return false;
    // Without this, shared operands would be compared once for each path to them.
    const auto [known, is_new] = known_.emplace(std::pair(&a, &b), false);
    if (!is_new) return known->second;
    for (size_t k = 0; k < a.operands.size(); ++k) {
      if (!are_equal(a.operand(k), b.operand(k), depth + 1)) return false;
    }
    return known_[std::pair(&a, &b)] = text_of_operation(a) == text_of_operation(b);
  }

 private:
  std::unordered_set<const Instruction*> fixed_;
  std::map<std::pair<const Instruction*, const Instruction*>, bool> known_;
};

/// The body's reads of element `from` become reads of element `to`.
void redirect(const LoopCarry& carry, size_t from, size_t to) {
  Instruction* kept = carry.reads(to).front();
  for (const auto& i : carry.body().instructions()) {
    for (Instruction*& operand : i->operands) {
      const bool is_read = std::ranges::find(carry.reads(from), operand) != carry.reads(from).end();
      if (is_read && i.get() != carry.body().root) operand = kept;
    }
  }
}

}  // namespace

Result<PassResult> share_invariants(Module& module) {
  int64_t count = 0;
  const auto callers = count_callers(module);
  for (const auto& computation : module.computations()) {
    std::optional<Equality> equality;  // most computations have no two candidates
    for (const auto& i : computation->instructions()) {
      if (i->opcode != Opcode::kWhile) continue;
      LoopCarry carry(*i, callers);
      if (!carry.ok()) continue;
      const auto is_candidate = [&](size_t k) {
        const Instruction& value = carry.initial(k);
        return value.shape.is_array() && !value.operands.empty() && carry.is_invariant(k);
      };
      bool is_reordered = false;
      for (size_t k = 1; k < carry.size(); ++k) {
        if (!is_candidate(k)) continue;
        for (size_t first = 0; first < k; ++first) {
          if (&carry.initial(first) == &carry.initial(k) || !is_candidate(first)) continue;
          if (carry.initial(first).opcode != carry.initial(k).opcode) continue;
          if (!equality) equality.emplace(*computation);
          if (!equality->are_equal(carry.initial(first), carry.initial(k))) continue;
          if (!is_reordered) carry.put_reads_first();
          is_reordered = true;
          redirect(carry, k, first);
          ++count;
          break;
        }
      }
    }
  }
  if (count > 0) module.is_scheduled = false;
  return rewritten(count, "values handed to a loop once");
}

}  // namespace lowtide::engine
