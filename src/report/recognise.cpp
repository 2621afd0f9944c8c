/// The recognisers of cures.h: what a value is, by the instructions around it.

#include <algorithm>
#include <set>
#include <vector>

#include "report/cures.h"

namespace lowtide {
namespace {

constexpr size_t kLargestLook = 200;     // instructions looked at before a recogniser gives up
constexpr int64_t kSmallShare = 8;       // a broadcast operand at most this fraction of the result is small
constexpr int64_t kSmallestMask = 4096;  // elements

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool is_view(const Instruction& i) {
  return memory_class(i.opcode) == MemoryClass::kView || i.opcode == Opcode::kReshape ||
         i.opcode == Opcode::kTranspose || i.opcode == Opcode::kCopy || i.opcode == Opcode::kConvert;
}

bool is_contraction(const Instruction& i) {
  if (memory_class(i.opcode) == MemoryClass::kContract) return true;
  const auto* call = i.if_as<CustomCallAttributes>();
  if (call == nullptr) return false;
  return contains(call->target, "gemm") || contains(call->target, "matmul") || contains(call->target, "dot");
}

bool is_call_like(const Instruction& i) { return i.opcode == Opcode::kFusion || i.opcode == Opcode::kCall; }

const Instruction* parameter_of(const Computation& body, int64_t number) {
  for (const auto& i : body.instructions()) {
    const auto* attributes = i->if_as<ParameterAttributes>();
    if (attributes != nullptr && attributes->number == number) return i.get();
  }
  return nullptr;
}

// Instructions that read the value, inside the fusions and calls that take it as well.
void readers(const Graph& graph, const Instruction& value, std::vector<const Instruction*>& found) {
  for (const Instruction* user : graph.users(value)) {
    if (user->opcode == Opcode::kTuple && user->parent != nullptr && user->parent->root == user) {
      for (const Instruction* caller : graph.callers(*user->parent)) {
        if (!is_call_like(*caller)) continue;
        for (const Instruction* element : graph.users(*caller)) {
          const auto* index = element->if_as<TupleIndexAttributes>();
          const bool same = index != nullptr && index->index < static_cast<int64_t>(user->operands.size()) &&
                            user->operands[static_cast<size_t>(index->index)] == &value;
          if (same) found.push_back(element);
        }
      }
      continue;
    }
    if (!is_call_like(*user) || user->called.empty()) {
      found.push_back(user);
      continue;
    }
    for (size_t k = 0; k < user->operands.size(); ++k) {
      if (user->operands[k] != &value) continue;
      if (const Instruction* inside = parameter_of(*user->called[0], static_cast<int64_t>(k))) found.push_back(inside);
    }
  }
  if (value.parent == nullptr || value.parent->root != &value) return;
  for (const Instruction* caller : graph.callers(*value.parent)) {
    if (is_call_like(*caller)) found.push_back(caller);
  }
}

// The making instruction through views, fusions, calls and loops.
const Instruction& made_by(const Graph& graph, const ValueRef& value) { return *graph.source_of(value).instruction; }

// Whether all of `value` is computed from what `leaf` accepts, through operations that walk index by index. `saw` is
// called for each instruction on the way.
template <class Leaf, class Saw>
bool is_made_of(const Graph& graph, const ValueRef& value, Leaf&& leaf, Saw&& saw) {
  std::vector<ValueRef> open = {value};
  std::set<std::pair<int32_t, ShapeIndex>> seen;
  while (!open.empty()) {
    const ValueRef current = graph.source_of(open.back());
    open.pop_back();
    if (!seen.insert({current.instruction->id, current.index}).second) continue;
    if (seen.size() > kLargestLook) return false;
    const Instruction& i = *current.instruction;
    saw(i);
    if (leaf(i)) continue;
    const MemoryClass kind = memory_class(i.opcode);
    if (kind != MemoryClass::kElementwise && kind != MemoryClass::kIndexMap && kind != MemoryClass::kView) return false;
    if (i.operands.empty()) return false;
    for (const Instruction* operand : i.operands) open.push_back({operand, {}});
  }
  return true;
}

}  // namespace

ValueRef maker_of(const Graph& graph, const AccountBuffer& buffer) {
  if (buffer.values.empty()) return {};
  const ValueRef* carried = nullptr;
  for (const ValueRef& value : buffer.values) {
    if (value.instruction->opcode != Opcode::kWhile || value.index.size() != 1) continue;
    const Instruction* update = graph.stack_update(*value.instruction, value.index[0]);
    if (update != nullptr && update->operands.size() > 1) return graph.source_of({update->operands[1], {}});
    carried = &value;
  }
  return graph.source_of(carried != nullptr ? *carried : buffer.values[0]);
}

bool is_made_of_indices(const Graph& graph, const ValueRef& value) {
  if (element_count(shape_of(value)) < kSmallestMask) return false;
  bool counts = false;
  const bool made = is_made_of(
      graph, value,
      [](const Instruction& i) {
        return i.opcode == Opcode::kIota || i.opcode == Opcode::kConstant ||
               (i.shape.is_array() && element_count(i.shape) <= 1);
      },
      [&](const Instruction& i) { counts = counts || i.opcode == Opcode::kIota; });
  return made && counts;
}

bool is_one_hot(const Graph& graph, const ValueRef& value) {
  const Instruction* i = &made_by(graph, value);
  for (int steps = 0; steps < 8 && is_view(*i) && !i->operands.empty(); ++steps) {
    i = &made_by(graph, {i->operands[0], {}});
  }
  const auto* compare = i->if_as<CompareAttributes>();
  if (compare == nullptr || compare->direction != CompareDirection::kEq || i->operands.size() != 2) return false;
  bool counts = false, spreads = false;
  for (const Instruction* operand : i->operands) {
    const Instruction* side = &made_by(graph, {operand, {}});
    for (int steps = 0; steps < 8; ++steps) {
      if (side->opcode == Opcode::kIota) counts = true;
      if (side->opcode == Opcode::kBroadcast && !side->operands.empty() && side->operands[0]->shape.rank() > 0 &&
          made_by(graph, {side->operands[0], {}}).opcode != Opcode::kIota) {
        spreads = true;
      }
      if ((!is_view(*side) && side->opcode != Opcode::kBroadcast) || side->operands.empty()) break;
      side = &made_by(graph, {side->operands[0], {}});
    }
  }
  return counts && spreads;
}

bool is_random_bits(const Graph& graph, const ValueRef& value) {
  std::vector<ValueRef> open = {value};
  std::set<int32_t> seen;
  int rotations = 0, xors = 0;
  while (!open.empty() && seen.size() < kLargestLook) {
    const Instruction& i = made_by(graph, open.back());
    open.pop_back();
    if (!seen.insert(i.id).second) continue;
    if (i.opcode == Opcode::kRng || i.opcode == Opcode::kRngBitGenerator) return true;
    const auto* call = i.if_as<CustomCallAttributes>();
    if (call != nullptr && contains(call->target, "threefry")) return true;
    if (i.opcode == Opcode::kShiftLeft || i.opcode == Opcode::kShiftRightLogical) ++rotations;
    if (i.opcode == Opcode::kXor) ++xors;
    if (rotations >= 2 && xors >= 2) return true;  // rounds of a counter-based generator
    const MemoryClass kind = memory_class(i.opcode);
    if (kind != MemoryClass::kElementwise && kind != MemoryClass::kIndexMap && kind != MemoryClass::kView) continue;
    for (const Instruction* operand : i.operands) open.push_back({operand, {}});
  }
  return false;
}

bool is_broadcast(const Graph& graph, const ValueRef& value) {
  const Instruction* i = &made_by(graph, value);
  const int64_t whole = element_count(shape_of(value));
  for (int steps = 0; steps < 8 && is_view(*i) && !i->operands.empty(); ++steps) {
    i = &made_by(graph, {i->operands[0], {}});
  }
  return i->opcode == Opcode::kBroadcast && !i->operands.empty() && i->operands[0]->shape.is_array() &&
         element_count(i->operands[0]->shape) * kSmallShare <= whole;
}

int64_t grown_from(const Graph& graph, const ValueRef& value) {
  const int64_t whole = logical_bytes(shape_of(value));
  std::vector<ValueRef> open = {value};
  std::set<std::pair<int32_t, ShapeIndex>> seen;
  int64_t small = 0;
  int renamings = 0, contractions = 0;
  while (!open.empty()) {
    ValueRef current = open.back();
    open.pop_back();
    while (const auto next = graph.behind(current)) {
      if (current.instruction->opcode == Opcode::kWhile || next->instruction->opcode == Opcode::kWhile) return 0;
      if (seen.size() + static_cast<size_t>(++renamings) > 10 * kLargestLook) return 0;
      current = *next;
    }
    if (!seen.insert({current.instruction->id, current.index}).second) continue;
    if (seen.size() > kLargestLook) return 0;
    const Instruction& i = *current.instruction;
    const Shape& shape = shape_of(current);
    if (!shape.is_array()) return 0;
    if (i.opcode == Opcode::kIota) continue;
    if (logical_bytes(shape) * kSmallShare <= whole) {
      small += logical_bytes(shape);
      continue;
    }
    const MemoryClass kind = memory_class(i.opcode);
    const bool computable = kind == MemoryClass::kElementwise || kind == MemoryClass::kIndexMap ||
                            kind == MemoryClass::kView || kind == MemoryClass::kReduce ||
                            kind == MemoryClass::kContract;
    if (kind == MemoryClass::kContract && ++contractions > 1) return 0;  // that would recompute the network
    if (!computable || i.operands.empty() || i.opcode == Opcode::kDynamicUpdateSlice || i.opcode == Opcode::kScatter) {
      return 0;
    }
    for (const Instruction* operand : i.operands) open.push_back({operand, {}});
  }
  return small * kSmallShare <= whole ? small : 0;
}

bool is_widened(const Graph& graph, const ValueRef& value) {
  const Instruction& i = made_by(graph, value);
  return i.opcode == Opcode::kConvert && !i.operands.empty() &&
         logical_bytes(i.operands[0]->shape) < logical_bytes(i.shape);
}

bool is_copy(const Graph& graph, const ValueRef& value) {
  const Opcode opcode = made_by(graph, value).opcode;
  return opcode == Opcode::kCopy || opcode == Opcode::kCopyStart;
}

Softmax softmax_around(const Graph& graph, const ValueRef& value) {
  const int64_t count = element_count(shape_of(value));
  const auto alike = [&](const Instruction& i) { return i.shape.is_array() && element_count(i.shape) == count; };

  // Up: the contraction that the elements come from.
  const Instruction* contraction = nullptr;
  bool exponential = false, reduced = false, multiplied = false;
  std::vector<ValueRef> up = {value};
  std::set<int32_t> seen;
  while (!up.empty() && seen.size() < kLargestLook) {
    const Instruction& i = made_by(graph, up.back());
    up.pop_back();
    if (!seen.insert(i.id).second) continue;
    if (is_contraction(i)) {
      contraction = &i;
      continue;
    }
    if (i.opcode == Opcode::kExponential && alike(i)) exponential = true;
    if (memory_class(i.opcode) != MemoryClass::kElementwise && !is_view(i)) continue;
    for (const Instruction* operand : i.operands) {
      if (alike(*operand)) up.push_back({operand, {}});
    }
  }
  if (contraction == nullptr) return Softmax::kNone;

  // Down: an exponential and a reduction of the elements, and perhaps a contraction that eats them.
  std::vector<const Instruction*> down;
  if (value.instruction->shape.is_array()) readers(graph, *value.instruction, down);
  readers(graph, *graph.source_of(value).instruction, down);
  readers(graph, *contraction, down);
  std::set<int32_t> met;
  while (!down.empty() && met.size() < kLargestLook) {
    const Instruction& i = *down.back();
    down.pop_back();
    if (!met.insert(i.id).second) continue;
    if (i.opcode == Opcode::kReduce) reduced = true;
    if (is_contraction(i)) multiplied = true;
    if (i.opcode == Opcode::kExponential && alike(i)) exponential = true;
    const bool passes = memory_class(i.opcode) == MemoryClass::kElementwise || is_view(i) || is_call_like(i) ||
                        i.opcode == Opcode::kParameter;
    if (passes && alike(i)) readers(graph, i, down);
  }
  if (!exponential || !reduced) return Softmax::kNone;

  // Logits multiply activations with a parameter of the model; scores multiply two activations, per head.
  const auto* dot = contraction->if_as<DotAttributes>();
  if (dot != nullptr && !dot->lhs_batch_dims.empty()) return Softmax::kAttention;
  int parameters = 0;
  for (const Instruction* operand : contraction->operands) {
    const Instruction* i = &made_by(graph, {operand, {}});
    for (int steps = 0; steps < 12 && is_view(*i) && !i->operands.empty(); ++steps) {
      i = &made_by(graph, {i->operands[0], {}});
    }
    if (i->opcode == Opcode::kParameter && i->parent == graph.module().entry) ++parameters;
  }
  if (parameters == 1) return Softmax::kLoss;
  const Dims& dims = shape_of(value).dims;
  const bool square = dims.size() > 1 && dims[dims.size() - 1] == dims[dims.size() - 2];
  return square || (dot == nullptr && multiplied && dims.size() > 3) ? Softmax::kAttention : Softmax::kLoss;
}

bool feeds_contraction(const Graph& graph, const ValueRef& value) {
  const int64_t count = element_count(shape_of(value));
  std::vector<const Instruction*> open;
  readers(graph, *value.instruction, open);
  readers(graph, *graph.source_of(value).instruction, open);
  std::set<int32_t> met;
  while (!open.empty() && met.size() < kLargestLook) {
    const Instruction& i = *open.back();
    open.pop_back();
    if (!met.insert(i.id).second) continue;
    if (is_contraction(i)) return true;
    const bool passes = is_view(i) || is_call_like(i) || i.opcode == Opcode::kParameter;
    if (passes && i.shape.is_array() && element_count(i.shape) == count) readers(graph, i, open);
  }
  return false;
}

bool stacks_its_input(const Graph& graph, const AccountBuffer& buffer) {
  for (const ValueRef& value : buffer.values) {
    if (value.instruction->opcode != Opcode::kWhile || value.index.size() != 1) continue;
    const Instruction* update = graph.stack_update(*value.instruction, value.index[0]);
    if (update == nullptr || update->operands.size() < 2) continue;
    ValueRef stacked{update->operands[1], {}};
    for (int steps = 0; steps < 50; ++steps) {
      const Instruction& i = *stacked.instruction;
      if (i.opcode == Opcode::kParameter && i.parent == value.instruction->called[1]) return true;
      const auto next = graph.behind(stacked);
      if (next) {
        stacked = *next;
      } else if (is_view(i) && !i.operands.empty()) {
        stacked = {i.operands[0], {}};
      } else {
        break;
      }
    }
  }
  return false;
}

}  // namespace lowtide
