#include "passes/execute/unroll_elementwise_loops.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "analysis/trip_count.h"
#include "ir/element_read.h"
#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

bool is_small(const Shape& shape) { return shape.is_array() && element_count(shape) <= kSmallLoopArray; }

using Instructions = std::unordered_set<const Instruction*>;

/// The body's instructions that depend only on constants and on elements of the carry that at most exchange places,
/// such as the round keys of many generators at once.
Instructions unchanging(const Computation& body) {
  const size_t count = body.root->operands.size();
  std::vector<bool> passes(count, true);
  for (bool again = true; again;) {
    again = false;
    for (size_t k = 0; k < count; ++k) {
      const int64_t from = element_read(body.root->operand(k));
      if (!passes[k] || (from >= 0 && passes[from])) continue;
      passes[k] = false;
      again = true;
    }
  }
  Instructions fixed;
  for (const auto& i : body.instructions()) {
    const int64_t slot = element_read(*i);
    const bool moves = memory_class(i->opcode) == MemoryClass::kElementwise ||
                       memory_class(i->opcode) == MemoryClass::kIndexMap ||
                       memory_class(i->opcode) == MemoryClass::kView;
    const bool made = moves && i->called.empty() && slot < 0 && i->shape.is_array() && !i->operands.empty() &&
                      std::ranges::all_of(i->operands, [&](const Instruction* o) { return fixed.contains(o); });
    if (made || i->opcode == Opcode::kConstant || (slot >= 0 && passes[slot])) fixed.insert(i.get());
  }
  return fixed;
}

/// Does this instruction of a body commute with indexing its large arrays?
bool is_elementwise(const Instruction& i, const Instructions& fixed) {
  if (!i.called.empty() || !i.control_predecessors.empty()) return false;
  if (fixed.contains(&i)) return true;
  switch (i.opcode) {
    case Opcode::kParameter:
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kConstant:
    case Opcode::kIota: return true;
    case Opcode::kBroadcast: return is_small(i.operand(0).shape) || fixed.contains(&i.operand(0));
    default: break;
  }
  if (!i.shape.is_array()) return false;
  const MemoryClass memory = memory_class(i.opcode);
  if (memory == MemoryClass::kElementwise) return true;
  const bool moves = memory == MemoryClass::kIndexMap || memory == MemoryClass::kView;
  return moves && is_small(i.shape) &&
         std::ranges::all_of(i.operands, [](const Instruction* o) { return is_small(o->shape); });
}

bool unrolls(const Instruction& loop, int64_t& trips) {
  const auto count = trip_count(loop);
  if (!count || count->trips > kMostUnrolledTrips || count->trips < 0) return false;
  const Computation& body = *loop.called[1];
  const Computation& test = *loop.called[0];
  if (count->trips * static_cast<int64_t>(body.instructions().size()) > kMostUnrolled) return false;
  if (body.root->opcode != Opcode::kTuple) return false;
  trips = count->trips;
  const Instructions fixed = unchanging(body);
  return std::ranges::all_of(
             body.instructions(),
             [&](const auto& i) {
               const bool reads_bundle =
                   std::ranges::any_of(i->operands, [](const Instruction* o) { return o->shape.is_tuple(); });
               if (i->opcode == Opcode::kTuple && i.get() != body.root) return false;
               return is_elementwise(*i, fixed) && (!reads_bundle || i->opcode == Opcode::kGetTupleElement);
             }) &&
         std::ranges::all_of(test.instructions(), [](const auto& i) { return is_elementwise(*i, {}); });
}

class Unroller {
 public:
  explicit Unroller(Computation& computation) : computation_(computation), names_(computation) {}

  /// Appends the iterations; returns the tuple of the last carry.
  Instruction* unroll(const Instruction& loop, int64_t trips) {
    std::vector<Instruction*> carries;
    Instruction* start = loop.operands[0];
    for (size_t k = 0; k < loop.shape.elements.size(); ++k) {
      carries.push_back(start->opcode == Opcode::kTuple ? start->operands[k] : element(*start, k));
    }
    for (int64_t trip = 0; trip < trips; ++trip) carries = append_trip(*loop.called[1], carries);
    auto bundle = std::make_unique<Instruction>();
    bundle->opcode = Opcode::kTuple;
    bundle->shape = loop.shape;
    bundle->operands = carries;
    return append(std::move(bundle), loop.name, loop);
  }

  std::vector<Instruction*> order;

 private:
  Instruction* append(std::unique_ptr<Instruction> added, const std::string& name, const Instruction& origin) {
    added->name = names_.unused(name);
    if (added->metadata.empty()) added->metadata = origin.metadata;
    order.push_back(computation_.append(std::move(added)));
    return order.back();
  }

  Instruction* element(Instruction& tuple, size_t k) {
    auto read = std::make_unique<Instruction>();
    read->opcode = Opcode::kGetTupleElement;
    read->shape = tuple.shape.elements[k];
    read->operands = {&tuple};
    read->attributes = TupleIndexAttributes{static_cast<int64_t>(k)};
    return append(std::move(read), tuple.name + ".element", tuple);
  }

  std::vector<Instruction*> append_trip(const Computation& body, const std::vector<Instruction*>& carries) {
    std::unordered_map<const Instruction*, Instruction*> now;
    for (const auto& i : body.instructions()) {
      if (i->opcode == Opcode::kParameter || i.get() == body.root) continue;
      if (i->opcode == Opcode::kGetTupleElement) {
        now[i.get()] = carries[i->as<TupleIndexAttributes>().index];
        continue;
      }
      auto added = copy_of(*i);
      for (Instruction*& operand : added->operands) operand = now.at(operand);
      now[i.get()] = append(std::move(added), i->name, *i);
    }
    std::vector<Instruction*> next;
    for (const Instruction* root : body.root->operands) next.push_back(now.at(root));
    return next;
  }

  Computation& computation_;
  Names names_;
};

}  // namespace

Result<PassResult> unroll_elementwise_loops(Module& module) {
  if (!has_any(module, {Opcode::kWhile})) return PassResult{};
  int64_t count = 0;
  const std::vector<bool> ordered = ordered_instructions(module);
  for (Computation* computation : module.callees_first()) {
    std::vector<Instruction*> originals;
    bool any = false;
    int64_t trips = 0;
    for (const auto& i : computation->instructions()) {
      originals.push_back(i.get());
      any = any || (i->opcode == Opcode::kWhile && unrolls(*i, trips));
    }
    if (!any) continue;
    Replacements replacements(module);
    Unroller unroller(*computation);
    for (Instruction* i : originals) {
      replacements.apply_to(*i);
      const bool held = ordered[i->id];
      if (i->opcode == Opcode::kWhile && !held && unrolls(*i, trips)) {
        replacements.replace(*i, *unroller.unroll(*i, trips));
      } else {
        unroller.order.push_back(i);
      }
    }
    replacements.finish(*computation);
    computation->reorder(unroller.order);
    count += replacements.count();
  }
  return rewritten(count, "loops unrolled");
}

}  // namespace lowtide::engine
