#include "passes/resize/index_extents.h"

#include <algorithm>
#include <cstdlib>

#include "ir/element_read.h"
#include "passes/resize/index_flow.h"
#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

using Slot = ExtentTie::Slot;
using Kind = IndexFlow::Kind;

constexpr int64_t kFewTrips = 4;     ///< in loops with so few trips, constants can't be told apart
constexpr int64_t kSmallNumber = 2;  ///< constants up to this say nothing about extents
constexpr int64_t kEndNumber = 1;    ///< a number this close to an extent refers to it

class Relater {
 public:
  Relater(const Module& module, ModuleExtents& extents) : flows_(module), module_(module), extents_(extents) {}

  void run() {
    for (CountedLoop& loop : flows_.loops()) loop.trips = extents_.atoms().make(loop.count.trips);
    for (CountedLoop& loop : flows_.loops()) relate_loop(loop);
    for (const auto& computation : module_.computations()) {
      for (const auto& i : computation->instructions()) {
        const bool updates = i->opcode == Opcode::kDynamicUpdateSlice;
        if (!updates && i->opcode != Opcode::kDynamicSlice) continue;
        const Instruction& part = updates ? i->operand(1) : *i;
        for (size_t d = 0; d < i->operand(0).shape.dims.size(); ++d) {
          if (part.shape.dims[d] == i->operand(0).shape.dims[d]) continue;
          relate_index(*i, (updates ? 2 : 1) + d, extents_.dimension(i->operand(0), 0, d),
                       extents_.dimension(part, 0, d));
        }
      }
    }
  }

 private:
  void freeze(const Product& p, const char* words, const Instruction& at) { extents_.atoms().freeze(p, {words, &at}); }

  /// The constant that an operand is, traced through copies and loop-invariant values.
  static std::optional<ConstantUse> constant_behind(const Instruction& user, size_t operand, const Instruction& loop) {
    const Instruction& i = user.operand(operand);
    if (i.opcode == Opcode::kCopy) return constant_behind(i, 0, loop);
    if (const Literal* literal = known_constant(i)) {
      if (literal->size() != 1 || i.shape.rank() != 0) return std::nullopt;
      return ConstantUse{&user, operand, integer_at(*literal, 0)};
    }
    const int64_t element = element_read(i);
    const bool carried = element >= 0 && loop.operand(0).opcode == Opcode::kTuple && &user != &loop.operand(0);
    if (!carried) return std::nullopt;
    return constant_behind(loop.operand(0), static_cast<size_t>(element), loop);
  }

  void tie(const ConstantUse& use, ExtentSum value) {
    extents_.tie(*use.user, Slot::kOperand, use.operand, std::move(value));
  }

  /// Another trip count needs another bound if the loop counts up, another start if it counts down.
  void relate_loop(const CountedLoop& counted) {
    const Instruction& loop = *counted.loop;
    const TripCount& count = counted.count;
    if (count.carry < 0) return freeze(counted.trips, "a loop whose counter isn't known", loop);
    if (std::abs(count.step) != 1) return freeze(counted.trips, "a loop that counts in larger steps", loop);
    if (flows_.loop_of(*loop.called[1]) == nullptr || flows_.callers(*loop.called[1]) != 1) {
      return freeze(counted.trips, "loops that share a body", loop);
    }
    if (count.trips <= kFewTrips) return freeze(counted.trips, "a loop of few trips", loop);
    const Instruction& test = *loop.called[0]->root;
    std::optional<ConstantUse> use;
    if (count.step > 0) {
      for (const size_t side : {size_t{0}, size_t{1}}) {
        const auto found = constant_behind(test, side, loop);
        const bool is_start =
            found && found->user == &loop.operand(0) && found->operand == static_cast<size_t>(count.carry);
        if (found && !is_start) use = found;
      }
    } else if (loop.operand(0).opcode == Opcode::kTuple) {
      use = constant_behind(loop.operand(0), static_cast<size_t>(count.carry), loop);
    }
    if (!use) return freeze(counted.trips, "a loop whose bound isn't found", loop);
    tie(*use, ExtentSum(counted.trips, use->value - count.trips));
    extents_.tie(loop, Slot::kTrips, 0, ExtentSum(counted.trips));
  }

  void relate_index(const Instruction& i, size_t operand, const Product& whole, const Product& part) {
    Atoms& atoms = extents_.atoms();
    const int64_t n = atoms.extent(whole), r = atoms.extent(part);
    const IndexFlow flow = flows_.follow(i, operand);
    if (flow.kind == Kind::kConstant) {
      const int64_t begin = std::clamp<int64_t>(flow.start, 0, n - r);
      if (known_constant(i.operand(operand)) == nullptr)
        return freeze(whole, "an index that is computed of constants", i);
      ExtentInterval::Mark start;
      start.slot = Slot::kOperand;
      start.index = operand;
      extents_.cut({whole, begin, begin + r, ExtentSum(part), &i, {start}});
      return;
    }
    if (flow.kind == Kind::kTangled) {
      const char* words = "an index whose arithmetic with constants would mean something else";
      for (const CountedLoop* loop : flows_.met()) freeze(loop->trips, words, i);
      return freeze(whole, words, i);
    }
    const bool by_part = flow.kind == Kind::kCounts && std::abs(flow.slope) == r && r > kSmallNumber;
    for (const ConstantUse& use : flows_.uses()) relate_constant(use, flow, whole, part, by_part);
    if (flow.kind == Kind::kCounts) relate_trips(i, flow, whole, part, by_part);
  }

  void relate_constant(const ConstantUse& use, const IndexFlow& flow, const Product& whole, const Product& part,
                       bool by_part) {
    Atoms& atoms = extents_.atoms();
    const int64_t c = std::abs(use.value), sign = use.value < 0 ? -1 : 1;
    if (c <= kSmallNumber) return;
    if (by_part && c == atoms.extent(part) && use.user->opcode == Opcode::kMultiply)
      return tie(use, ExtentSum().add(sign, part));
    if (use.user->opcode == Opcode::kMultiply) return;
    const auto is_near = [&](const Product& p) {
      return atoms.extent(p) > kFewTrips && std::abs(c - atoms.extent(p)) <= kEndNumber;
    };
    const Product& trips = flow.loop != nullptr ? flow.loop->trips : whole;
    for (const Product& p : {whole, trips}) {
      if (!is_near(p)) continue;
      return tie(use, ExtentSum().add(sign, ExtentSum(p, c - atoms.extent(p))));
    }
    if (c == atoms.extent(whole) - atoms.extent(part)) {
      tie(use, ExtentSum().add(sign, ExtentSum(whole).add(-1, part)));
    }
  }

  void relate_trips(const Instruction& i, const IndexFlow& flow, const Product& whole, const Product& part,
                    bool by_part) {
    Atoms& atoms = extents_.atoms();
    const ExtentReason why = {"indexed by the trips of a loop", &i};
    const int64_t n = atoms.extent(whole), r = atoms.extent(part), slope = std::abs(flow.slope);
    const int64_t trips = atoms.extent(flow.loop->trips);
    const int64_t left = n - slope * trips;  // elements that no iteration reaches
    ExtentSum zero(whole);
    if (by_part) {
      Product reached = flow.loop->trips;
      reached.insert(reached.end(), part.begin(), part.end());
      zero.add(-1, reached);
    } else {
      zero.add(-slope, flow.loop->trips);
    }
    if (std::abs(left) <= r + slope) {
      zero.constant = -left;
      return extents_.relate(zero, why);
    }
    // The last slice must end within the dimension.
    const int64_t past = flow.slope > 0 ? flow.start + r - slope : 0;
    ExtentSum beyond;
    beyond.constant = past;
    extents_.relate(beyond.add(-1, zero), why, true);
  }

  IndexFlows flows_;
  const Module& module_;
  ModuleExtents& extents_;
};

}  // namespace

void relate_indices(const Module& module, ModuleExtents& extents) { Relater(module, extents).run(); }

}  // namespace lowtide::engine
