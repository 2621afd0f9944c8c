#include "passes/stream/loop_walk.h"

#include <algorithm>
#include <set>

#include "analysis/trip_count.h"
#include "ops/combiner.h"
#include "ops/op_rule.h"
#include "passes/in_place/slices.h"
#include "passes/rewrite.h"
#include "passes/stream/slot_indices.h"
#include "passes/stream/walk.h"

namespace lowtide::engine {
namespace {

/// The type to which a sum is rounded when all parts are added.
using Rounding = std::optional<ElementType>;

bool is_precise(ElementType type) { return type_of_sums(type) == type; }

class Walker {
 public:
  Walker(const Instruction& loop, int64_t extent, bool nested) : loop_(loop), extent_(extent), nested_(nested) {}

  std::shared_ptr<const LoopWalk> walk(const Dims& leaves) {
    const Computation& body = *loop_.called[1];
    const std::vector<Instruction*> parameters = body.parameters();
    if (!loop_.shape.is_tuple() || parameters.size() != 1 || body.root->opcode != Opcode::kTuple) return nullptr;
    if (loop_.operand(0).opcode != Opcode::kTuple || !loop_.control_predecessors.empty()) return nullptr;
    for (const Shape& element : loop_.shape.elements) {
      if (!element.is_array() || !element.dynamic.empty()) return nullptr;
    }
    if (SideEffects(body.module()).has(loop_)) return nullptr;
    parameter_ = parameters[0];
    walk_.leaves = leaves;
    walk_.rounded.assign(leaves.size(), std::nullopt);
    // Each round turns at least one whole array into slices or a sum.
    for (size_t round = 0; round <= 2 * leaves.size(); ++round) {
      walk_.arrays.clear();
      walk_.loops.clear();
      rounded_.clear();
      widened_ = false;
      bool fits = true;
      for (const auto& i : body.instructions()) fits = fits && visit(*i);
      if (fits) fits = close(body);
      if (!widened_) return fits ? finish(body) : nullptr;
    }
    return nullptr;
  }

 private:
  int64_t of(const Instruction& array) const { return walk_.arrays.at(&array); }
  Rounding rounded(const Instruction& sum) const {
    const auto known = rounded_.find(&sum);
    return known == rounded_.end() ? Rounding() : known->second;
  }

  bool visit(const Instruction& i) {
    if (&i == parameter_ || i.opcode == Opcode::kTuple) return true;
    if (is_barrier(i)) return true;
    if (i.opcode == Opcode::kWhile) return visit_loop(i);
    if (i.opcode == Opcode::kGetTupleElement) {
      const auto index = static_cast<size_t>(i.as<TupleIndexAttributes>().index);
      if (!i.shape.is_array()) return false;
      const auto inner = walk_.loops.find(&i.operand(0));
      if (&i.operand(0) == parameter_) {
        walk_.arrays[&i] = walk_.leaves[index];
        rounded_[&i] = walk_.rounded[index];
      } else if (inner != walk_.loops.end()) {
        walk_.arrays[&i] = inner->second->leaves[index];
        rounded_[&i] = inner->second->rounded[index];
      } else if (is_barrier(i.operand(0))) {
        const Instruction& behind = i.operand(0).operand(0).operand(index);
        if (!walk_.arrays.contains(&behind)) return false;
        walk_.arrays[&i] = of(behind);
        rounded_[&i] = rounded(behind);
      } else {
        return false;
      }
      return true;
    }
    if (!i.shape.is_array()) return false;
    bool slices = false, sums = false;
    for (const Instruction* operand : i.operands) {
      const auto known = walk_.arrays.find(operand);
      if (known == walk_.arrays.end()) return false;
      slices |= known->second >= 0;
      sums |= known->second == kSummed;
    }
    int64_t state = kWhole;
    if (slices) {
      state = sums ? kOpaque : sliced(i);
    } else if (sums) {
      state = is_linear(i) && keeps_rounding(i) ? kSummed : kOpaque;
      if (state == kOpaque) begin_sums(i);
    }
    walk_.arrays[&i] = state;
    return state != kOpaque;
  }

  bool visit_loop(const Instruction& i) {
    if (i.operand(0).opcode != Opcode::kTuple) return false;
    Dims leaves;
    for (const Instruction* operand : i.operand(0).operands) {
      const auto known = walk_.arrays.find(operand);
      if (known == walk_.arrays.end()) return false;
      leaves.push_back(known->second);
    }
    auto inner = Walker(i, extent_, true).walk(leaves);
    if (inner == nullptr) return false;
    for (size_t k = 0; k < leaves.size(); ++k) {
      if (inner->leaves[k] >= 0 && leaves[k] == kWhole) demand(*i.operand(0).operands[k], inner->leaves[k]);
    }
    // Elements that are slices or sums inside must begin as such: whole arrays can be sliced, zeros are parts of sums.
    for (size_t k = 0; k < leaves.size(); ++k) {
      if (inner->leaves[k] == kSummed && leaves[k] == kWhole && !is_zero(*i.operand(0).operands[k])) return false;
    }
    walk_.loops[&i] = std::move(inner);
    return true;
  }

  /// The dimension of the result along which it is sliced; kSummed: the slices are added up; kOpaque: neither.
  int64_t sliced(const Instruction& i) {
    for (int64_t r = 0; r < i.shape.rank(); ++r) {
      if (i.shape.dims[r] != extent_ || !can_be_made_by_slices(i, r)) continue;
      bool fits = true;
      for (size_t k = 0; k < i.operands.size(); ++k) {
        int64_t j = kWhole;
        const InStep in_step = operand_in_step(i, k, r, j);
        const int64_t state = of(i.operand(k));
        fits &= state == kWhole || (in_step == InStep::kYes && state == j);
      }
      if (!fits) continue;
      for (size_t k = 0; k < i.operands.size(); ++k) {
        int64_t j = kWhole;
        if (operand_in_step(i, k, r, j) == InStep::kYes) demand(i.operand(k), j);
      }
      return r;
    }
    for (size_t k = 0; k < i.operands.size(); ++k) {
      if (of(i.operand(k)) < 0) continue;
      const std::optional<Fold> fold = folded_along(i, k, of(i.operand(k)));
      const bool sums = is_product(i) || (i.opcode == Opcode::kReduce && i.operands.size() == 2 && adds(i));
      if (!fold || !sums) return kOpaque;
      for (size_t n = 0; n < i.operands.size(); ++n) {
        const int64_t state = of(i.operand(n));
        if (state != kWhole && state != fold->dimensions[n]) return kOpaque;
        if (fold->dimensions[n] != kNoId) demand(i.operand(n), fold->dimensions[n]);
      }
      // A sum's initial value would be added once for each tile.
      if (i.opcode == Opcode::kReduce && !is_zero(i.operand(1))) return kOpaque;
      if (!is_precise(i.shape.type)) rounded_[&i] = i.shape.type;
      return kSummed;
    }
    return kOpaque;
  }

  /// Does the operand choose places or elements, which are no parts of a sum?
  static bool chooses(const Instruction& i, size_t operand) {
    switch (i.opcode) {
      case Opcode::kDynamicUpdateSlice: return operand > 1;
      case Opcode::kDynamicSlice: return operand > 0;
      case Opcode::kScatter: return operand == 1;
      case Opcode::kSelect: return operand == 0;
      default: return false;
    }
  }

  bool is_linear(const Instruction& i) const {
    const auto summed = [&](size_t k) { return of(i.operand(k)) == kSummed; };
    const auto are_parts = [&] {
      for (size_t k = 0; k < i.operands.size(); ++k) {
        if (chooses(i, k) ? summed(k) : !summed(k) && !is_zero(i.operand(k))) return false;
      }
      return true;
    };
    switch (i.opcode) {
      case Opcode::kConvert: return is_floating(i.shape.type) && is_floating(i.operand(0).shape.type);
      case Opcode::kReduce: return i.operands.size() == 2 && adds(i) && summed(0) && is_zero(i.operand(1));
      case Opcode::kScatter: return i.operands.size() == 3 && adds(i) && are_parts();
      case Opcode::kMultiply:
      case Opcode::kConvolution:
      case Opcode::kDot: return i.operands.size() == 2 && summed(0) != summed(1);
      case Opcode::kDivide: return !summed(1);
      case Opcode::kAdd:
      case Opcode::kBroadcast:
      case Opcode::kConcatenate:
      case Opcode::kCopy:
      case Opcode::kDynamicSlice:
      case Opcode::kDynamicUpdateSlice:
      case Opcode::kNegate:
      case Opcode::kPad:
      case Opcode::kReshape:
      case Opcode::kReverse:
      case Opcode::kSelect:
      case Opcode::kSlice:
      case Opcode::kSubtract:
      case Opcode::kTranspose: return are_parts();
      default: return false;
    }
  }

  /// Does the sum have the program's value if it is rounded once, after all parts are added? Rounded sums may not enter
  /// arithmetic, but a sum of sums is one sum.
  bool keeps_rounding(const Instruction& i) {
    Rounding all;
    bool others = false;
    for (const Instruction* operand : i.operands) {
      if (of(*operand) != kSummed) continue;
      const Rounding one = rounded(*operand);
      if (one && all && one != all) return false;
      if (one) all = one;
      others |= !one;
    }
    // One rounding is for all elements. A stack of slots that doesn't count as rounded yet begins as zeros.
    if (all && others && i.opcode != Opcode::kDynamicUpdateSlice) return false;
    const bool calculates = i.opcode == Opcode::kMultiply || is_product(i) || i.opcode == Opcode::kDivide ||
                            i.opcode == Opcode::kAdd || i.opcode == Opcode::kSubtract || i.opcode == Opcode::kScatter;
    if (calculates && (all || !is_precise(i.shape.type))) return false;
    if (i.opcode == Opcode::kConvert && !is_precise(i.shape.type)) {
      if (all && all != i.shape.type) return false;
      all = i.shape.type;
    }
    rounded_[&i] = all;
    return true;
  }

  /// Assumes sums for the whole elements of the state that must be sums for this to be one.
  void begin_sums(const Instruction& i) {
    for (size_t k = 0; k < i.operands.size(); ++k) {
      if (of(i.operand(k)) == kWhole && !chooses(i, k)) widen(i.operand(k), kSummed);
    }
  }

  /// Slices of `array` are needed: they are best computed from slices of the state. Slicing a whole array would
  /// recompute it for each tile.
  void demand(const Instruction& array, int64_t d) {
    std::set<std::pair<const Instruction*, int64_t>> asked;
    demand(array, d, asked);
  }

  /// asked: arrays that were visited, as operations may share operands a thousand times over.
  void demand(const Instruction& array, int64_t d, std::set<std::pair<const Instruction*, int64_t>>& asked) {
    const auto known = walk_.arrays.find(&array);
    if (known == walk_.arrays.end() || known->second != kWhole || !asked.emplace(&array, d).second) return;
    if (widen(array, d) || !can_be_made_by_slices(array, d) || array.opcode == Opcode::kBroadcast) return;
    for (size_t k = 0; k < array.operands.size(); ++k) {
      int64_t j = kWhole;
      if (operand_in_step(array, k, d, j) == InStep::kYes) demand(array.operand(k), j, asked);
    }
  }

  /// Is it a whole element of the state? Then assumes `state` for it.
  bool widen(const Instruction& array, int64_t state) {
    if (array.opcode != Opcode::kGetTupleElement || &array.operand(0) != parameter_) return false;
    int64_t& leaf = walk_.leaves[array.as<TupleIndexAttributes>().index];
    if (leaf != kWhole || (state >= 0 && array.shape.dims[state] != extent_)) return false;
    leaf = state;
    widened_ = true;
    return true;
  }

  /// Does the next state match the assumed one, possibly after widening that?
  bool close(const Computation& body) {
    for (size_t k = 0; k < walk_.leaves.size(); ++k) {
      const Instruction& next = body.root->operand(k);
      const auto known = walk_.arrays.find(&next);
      if (known == walk_.arrays.end()) return false;
      const int64_t state = known->second;
      int64_t& assumed = walk_.leaves[k];
      if (assumed >= 0 && state == kWhole) demand(next, assumed);
      if (state == kSummed && rounded(next) != walk_.rounded[k]) {
        if (walk_.rounded[k]) return false;
        walk_.rounded[k] = rounded(next);
        widened_ = true;
      }
      if (state == assumed || (assumed >= 0 && state == kWhole)) continue;
      if (assumed == kSummed && is_zero(next)) continue;
      if (assumed != kWhole) return false;
      assumed = state;
      widened_ = true;
    }
    return true;
  }

  std::shared_ptr<const LoopWalk> finish(const Computation& body) {
    for (const auto& i : loop_.called[0]->instructions()) {
      const TupleIndexAttributes* index = i->if_as<TupleIndexAttributes>();
      if (index != nullptr && walk_.leaves[index->index] != kWhole && is_read(*i)) return nullptr;
    }
    walk_.in_place.resize(walk_.leaves.size(), false);
    for (size_t k = 0; k < walk_.leaves.size(); ++k) {
      if (walk_.leaves[k] != kSummed) continue;
      const bool zero = is_zero(*loop_.operand(0).operands[k]);
      walk_.in_place[k] = !nested_ && is_added_in_place(body, k, zero);
      if (!nested_ && !walk_.in_place[k] && !zero) return nullptr;
    }
    return std::make_shared<LoopWalk>(std::move(walk_));
  }

  static bool is_read(const Instruction& i) {
    if (&i == i.parent->root) return true;
    return std::ranges::any_of(i.parent->instructions(),
                               [&](const auto& u) { return std::ranges::find(u->operands, &i) != u->operands.end(); });
  }

  /// Does the body only add to element k, or only write slots of it, each once, that were zero before?
  bool is_added_in_place(const Computation& body, size_t k, bool zero) const {
    const Instruction& next = body.root->operand(k);
    const Instruction* before = nullptr;
    for (const auto& i : body.instructions()) {
      const TupleIndexAttributes* index = i->if_as<TupleIndexAttributes>();
      if (index == nullptr || &i->operand(0) != parameter_ || index->index != static_cast<int64_t>(k)) continue;
      if (before != nullptr) return false;
      before = i.get();
    }
    if (before == nullptr) return false;
    if (&next == before) return true;
    int64_t uses = 0;
    for (const auto& i : body.instructions()) uses += std::ranges::count(i->operands, before);
    if (uses != 1 || std::ranges::count(body.root->operands, &next) != 1) return false;
    if (next.opcode == Opcode::kAdd) return next.operands[0] == before || next.operands[1] == before;
    if (next.opcode == Opcode::kScatter) return next.operands[0] == before;  // it adds, as visit() has checked
    if (next.opcode != Opcode::kDynamicUpdateSlice || next.operands[0] != before || !zero) return false;
    for (const auto& i : body.instructions()) {
      if (i.get() != body.root && std::ranges::find(i->operands, &next) != i->operands.end()) return false;
    }
    return writes_each_slot_once(next, loop_);
  }

  static constexpr int64_t kOpaque = -3;

  /// Does it only rename a tuple, so that nothing moves past it?
  static bool is_barrier(const Instruction& i) {
    return i.opcode == Opcode::kOptBarrier && i.shape.is_tuple() && i.operand(0).opcode == Opcode::kTuple;
  }

  const Instruction& loop_;
  int64_t extent_;
  bool nested_;
  bool widened_ = false;  ///< in this round
  const Instruction* parameter_ = nullptr;
  LoopWalk walk_;
  std::unordered_map<const Instruction*, Rounding> rounded_;  ///< sums: as LoopWalk::rounded
};

}  // namespace

bool is_product(const Instruction& i) { return i.opcode == Opcode::kDot || i.opcode == Opcode::kConvolution; }

bool adds(const Instruction& fold) { return fold.shape.is_array() && is_addition(*fold.called[0], fold.shape.type); }

ElementType type_of_sums(ElementType type) {
  return is_floating(type) && type_bits(type) < 32 ? ElementType::kF32 : type;
}

std::shared_ptr<const LoopWalk> walk_loop(const Instruction& loop, const Dims& leaves, int64_t extent) {
  return Walker(loop, extent, false).walk(leaves);
}

}  // namespace lowtide::engine
