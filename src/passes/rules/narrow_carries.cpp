#include "passes/rules/narrow_carries.h"

#include <algorithm>
#include <map>

#include "analysis/leaf_bytes.h"
#include "analysis/uses.h"
#include "passes/rules/maker.h"
#include "passes/rules/saved_stacks.h"

namespace lowtide::engine {
namespace {

constexpr int kDeepestMove = 16;                ///< moves from the carry down to its source
constexpr int64_t kSmallestNarrowed = 1 << 12;  ///< bytes of a carry

bool is_move(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::kPad:
    case Opcode::kConcatenate:
    case Opcode::kSlice:
    case Opcode::kBroadcast:
    case Opcode::kReshape:
    case Opcode::kTranspose:
    case Opcode::kReverse:
    case Opcode::kSelect: return i.control_predecessors.empty();
    default: return false;
  }
}

bool same_operation(const Instruction& a, const Instruction& b) {
  if (a.opcode != b.opcode || a.operands.size() != b.operands.size() || !same_shape(a.shape, b.shape)) return false;
  switch (a.opcode) {
    case Opcode::kPad: {
      const auto &x = a.as<PadAttributes>(), &y = b.as<PadAttributes>();
      return x.low == y.low && x.high == y.high && x.interior == y.interior;
    }
    case Opcode::kSlice: {
      const auto &x = a.as<SliceAttributes>(), &y = b.as<SliceAttributes>();
      return x.starts == y.starts && x.limits == y.limits && x.strides == y.strides;
    }
    case Opcode::kIota: return a.as<IotaAttributes>().dimension == b.as<IotaAttributes>().dimension;
    case Opcode::kReshape:
    case Opcode::kSelect: return true;
    default: return a.as<DimensionsAttributes>().dimensions == b.as<DimensionsAttributes>().dimensions;
  }
}

/// Compares two values computed by the same moves, and finds their sources.
class SameMoves {
 public:
  /// Values that the moves start from, in the first expression and in the second.
  using Source = std::pair<Instruction*, Instruction*>;

  bool compare(Instruction* a, Instruction* b, int depth = 0) {
    if (is_constant(*a, *b)) return true;
    if (depth < kDeepestMove && is_move(*a) && same_operation(*a, *b)) {
      for (size_t k = 0; k < a->operands.size(); ++k) {
        if (!compare(a->operands[k], b->operands[k], depth + 1)) return false;
      }
      ++moves_;
      return true;
    }
    if (!a->shape.is_array() || !same_shape(a->shape, b->shape)) return false;
    if (std::ranges::find(sources_, Source{a, b}) == sources_.end()) sources_.emplace_back(a, b);
    return true;
  }

  const std::vector<Source>& sources() const { return sources_; }
  int moves() const { return moves_; }

  /// Are both the same constant or iota?
  static bool is_constant(const Instruction& a, const Instruction& b) {
    if (a.opcode == Opcode::kIota) return same_operation(a, b);
    const Literal *x = known_constant(a), *y = known_constant(b);
    return x && y && same_shape(x->shape(), y->shape()) && std::ranges::equal(x->bytes(), y->bytes());
  }

 private:
  std::vector<Source> sources_;
  int moves_ = 0;
};

class CarryNarrower {
 public:
  CarryNarrower(Instruction& loop, const Uses& uses, const Callers& callers)
      : loop_(loop), uses_(uses), carry_(loop, callers) {}

  bool run() {
    if (!carry_.ok()) return false;
    for (size_t k = 0; k < carry_.size(); ++k) {
      if (narrow(k)) return true;
    }
    return false;
  }

 private:
  bool narrow(size_t k) {
    Instruction* initial = &carry_.initial(k);
    Instruction* next = carry_.body().root->operands[k];
    if (!initial->shape.is_array() || carry_.is_tested(k) || !is_move(*initial) || carry_.reads(k).empty())
      return false;
    SameMoves same;
    if (std::ranges::all_of(carry_.reads(k), [&](const Instruction* read) { return uses_.of(*read).empty(); }))
      return false;
    if (!same.compare(initial, next) || same.moves() == 0 || same.sources().size() != 1) return false;
    const auto [from, handed_on] = same.sources()[0];
    const int64_t before = safe_logical_bytes(initial->shape), after = safe_logical_bytes(from->shape);
    if (before < kSmallestNarrowed || (before - after) * kLeastPart < before) return false;
    for (const Instruction* read : carry_.reads(k)) {
      if (read == carry_.body().root->operands[k]) return false;
    }
    const size_t element = carry_.size();
    Instruction* read = carry_.add(*from);
    carry_.set_next(element, *handed_on);
    carry_.put_reads_first();
    replace_reads(k, *initial, *from, *read);
    replace_results(k, element, *initial, *from);
    return true;
  }

  /// Repeats the expression from another source.
  Instruction* again(const Instruction& i, const Instruction& from, Instruction& source, Maker& maker) {
    if (&i == &from) return &source;
    const auto [known, fresh] = made_.try_emplace(&i, nullptr);
    if (!fresh) return known->second;
    std::vector<Instruction*> operands;
    for (Instruction* operand : i.operands) operands.push_back(again(*operand, from, source, maker));
    return made_[&i] = maker.like(i, i.shape, operands);
  }

  static std::vector<Instruction*> instructions_of(const Computation& computation) {
    std::vector<Instruction*> all;
    for (const auto& i : computation.instructions()) all.push_back(i.get());
    return all;
  }

  void replace_reads(size_t k, const Instruction& initial, const Instruction& from, Instruction& read) {
    Computation& body = carry_.body();
    const std::vector<Instruction*> before = instructions_of(body);
    Maker maker(body);
    made_.clear();
    Instruction* made = again(initial, from, read, maker);
    for (Instruction* i : before) {
      for (Instruction*& operand : i->operands) {
        if (std::ranges::find(carry_.reads(k), operand) != carry_.reads(k).end()) operand = made;
      }
    }
    // Inserts after the reads of loop-carried values, which come first.
    std::vector<Instruction*> order;
    size_t at = 0;
    const Instruction* parameter = body.parameters()[0];
    while (at < before.size() && (before[at] == parameter || (before[at]->opcode == Opcode::kGetTupleElement &&
                                                              before[at]->operands[0] == parameter))) {
      order.push_back(before[at++]);
    }
    order.insert(order.end(), maker.order().begin(), maker.order().end());
    order.insert(order.end(), before.begin() + static_cast<std::ptrdiff_t>(at), before.end());
    body.reorder(order);
  }

  void replace_results(size_t k, size_t element, const Instruction& initial, const Instruction& from) {
    Computation& parent = *loop_.parent;
    const std::vector<Instruction*> before = instructions_of(parent);
    std::vector<const Instruction*> results;
    for (const Instruction* user : uses_.of(loop_)) {
      if (user->as<TupleIndexAttributes>().index == static_cast<int64_t>(k)) results.push_back(user);
    }
    if (results.empty()) return;
    Maker maker(parent);
    made_.clear();
    Instruction* source =
        maker.make(Opcode::kGetTupleElement, from.shape, {&loop_}, TupleIndexAttributes{static_cast<int64_t>(element)});
    Instruction* made = again(initial, from, *source, maker);
    const auto is_result = [&](const Instruction* i) { return std::ranges::find(results, i) != results.end(); };
    for (Instruction* i : before) {
      for (Instruction*& operand : i->operands) operand = is_result(operand) ? made : operand;
    }
    if (is_result(parent.root)) parent.root = made;
    std::vector<Instruction*> order;
    for (Instruction* i : before) {
      order.push_back(i);
      if (i == &loop_) order.insert(order.end(), maker.order().begin(), maker.order().end());
    }
    parent.reorder(order);
  }

  Instruction& loop_;
  const Uses& uses_;
  LoopCarry carry_;
  std::map<const Instruction*, Instruction*> made_;
};

}  // namespace

Result<PassResult> narrow_carries(Module& module) {
  if (!has_any(module, {Opcode::kWhile})) return PassResult{};
  int64_t count = 0;
  const Callers callers = count_callers(module);
  for (Instruction* loop : free_loops(module)) {
    while (CarryNarrower(*loop, Uses(module), callers).run()) ++count;
  }
  return rewritten(count, "carries narrowed");
}

}  // namespace lowtide::engine
