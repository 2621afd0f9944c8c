#include "passes/in_place/update_where_it_lies.h"

#include <algorithm>

#include "analysis/uses.h"
#include "passes/in_place/slices.h"
#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

struct Match {
  Instruction* outer = nullptr;  ///< writes the slice back
  Instruction* inner = nullptr;  ///< updates the slice
  Instruction* taken = nullptr;  ///< reads the slice
  // Of the combined update, per dimension of the stack.
  Dims extents;
  std::vector<Instruction*> starts;
};

bool same_start(const Instruction& a, const Instruction& b) { return &a == &b || (is_zero(a) && is_zero(b)); }

/// Matches the pattern, with only reshapes in between.
bool match(Instruction& outer, Match& m) {
  if (outer.opcode != Opcode::kDynamicUpdateSlice) return false;
  m.outer = &outer;
  m.inner = behind_reshapes(outer.operands[1]);
  if (m.inner->opcode != Opcode::kDynamicUpdateSlice || m.inner == &outer) return false;
  m.taken = behind_reshapes(m.inner->operands[0]);
  if (m.taken->opcode != Opcode::kDynamicSlice || m.taken->operands[0] != outer.operands[0]) return false;
  const Dims &stack = outer.shape.dims, &slice = outer.operand(1).shape.dims, &inside = m.inner->shape.dims;
  if (m.taken->shape.dims != slice) return false;
  // Reshapes may add and remove dimensions of extent one; starts along whole dimensions are 0.
  size_t next = 0;
  const auto skip_thin = [&] {
    while (next < inside.size() && inside[next] == 1) ++next;
  };
  for (size_t d = 0; d < stack.size(); ++d) {
    if (!same_start(outer.operand(2 + d), m.taken->operand(1 + d))) return false;
    m.extents.push_back(slice[d]);
    m.starts.push_back(m.taken->operands[1 + d]);
    if (slice[d] == 1) continue;
    skip_thin();
    if (next == inside.size() || inside[next] != slice[d]) return false;
    const int64_t updated = m.inner->operand(1).shape.dims[next];
    if (updated != slice[d]) {
      if (slice[d] != stack[d]) return false;
      m.extents.back() = updated;
      m.starts.back() = m.inner->operands[2 + next];
    }
    ++next;
  }
  skip_thin();
  return next == inside.size();
}

class Rewrite {
 public:
  Rewrite(Module& module, Computation& computation)
      : computation_(computation), names_(computation), replacements_(module) {}

  void run(const std::vector<Match>& matches, int64_t& count) {
    std::vector<Instruction*> originals;
    for (const auto& i : computation_.instructions()) originals.push_back(i.get());
    for (Instruction* i : originals) {
      replacements_.apply_to(*i);
      const auto inner = std::ranges::find(matches, i, &Match::inner);
      const auto outer = std::ranges::find(matches, i, &Match::outer);
      if (inner != matches.end() && can_start(*inner)) {
        made_.emplace_back(inner->outer, nullptr);
        replacements_.replace(*i, *rewrite(*inner));
        ++count;
      } else if (outer != matches.end()) {
        const auto done = std::ranges::find(made_, i, &std::pair<Instruction*, Instruction*>::first);
        if (done != made_.end()) {
          replacements_.replace(*i, *done->second);
          continue;
        }
        order_.push_back(i);
      } else {
        order_.push_back(i);
      }
    }
    replacements_.finish(computation_);
    computation_.reorder(order_);
  }

 private:
  /// Is the stack computed before the inner update?
  bool can_start(const Match& m) const {
    const Instruction* stack = replacements_.resolve(m.outer->operands[0]);
    return std::ranges::find(order_, stack) != order_.end();
  }

  Instruction* append(std::unique_ptr<Instruction> added, const Instruction& origin) {
    added->name = names_.unused(origin.name);
    if (added->metadata.empty()) added->metadata = origin.metadata;
    order_.push_back(computation_.append(std::move(added)));
    return order_.back();
  }

  Instruction* reshape(Instruction* value, const Dims& dims, const Instruction& origin) {
    auto i = std::make_unique<Instruction>();
    i->opcode = Opcode::kReshape;
    i->shape = Shape::array(value->shape.type, dims);
    i->operands = {value};
    return append(std::move(i), origin);
  }

  Instruction* rewrite(const Match& m) {
    auto update = std::make_unique<Instruction>();
    update->opcode = Opcode::kDynamicUpdateSlice;
    update->shape = m.outer->shape;
    update->operands = {replacements_.resolve(m.outer->operands[0]),
                        reshape(m.inner->operands[1], m.extents, *m.inner)};
    for (Instruction* start : m.starts) update->operands.push_back(replacements_.resolve(start));
    Instruction* stack = append(std::move(update), *m.outer);
    made_.back().second = stack;
    auto slice = copy_of(*m.taken);
    for (Instruction*& operand : slice->operands) operand = replacements_.resolve(operand);
    slice->operands[0] = stack;
    return reshape(append(std::move(slice), *m.taken), m.inner->shape.dims, *m.inner);
  }

  Computation& computation_;
  Names names_;
  Replacements replacements_;
  std::vector<Instruction*> order_;
  std::vector<std::pair<Instruction*, Instruction*>> made_;  ///< outer update -> its replacement
};

}  // namespace

Result<PassResult> update_where_it_lies(Module& module) {
  int64_t count = 0;
  for (const auto& computation : module.computations()) {
    std::vector<Match> matches;
    for (const auto& i : computation->instructions()) {
      Match m;
      if (match(*i, m) && std::ranges::find(matches, m.inner, &Match::inner) == matches.end()) matches.push_back(m);
    }
    if (!matches.empty()) Rewrite(module, *computation).run(matches, count);
  }
  return rewritten(count, "slices updated in their stack");
}

}  // namespace lowtide::engine
