#include "passes/rules/sink_hoisted_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <unordered_set>

#include "analysis/leaf_bytes.h"
#include "analysis/trip_count.h"
#include "passes/rules/loop_carry.h"
#include "region/cost.h"
#include "region/evaluations.h"

namespace lowtide {
namespace {

constexpr size_t kMostOps = 512;             ///< that one value may be made of
constexpr double kFewBytes = 1 << 12;        ///< not worth looking behind
constexpr double kLibraryFactor = 1.0 / 16;  ///< of a dot's time, when a library blocks it

double bytes_of(const Instruction& i) { return static_cast<double>(safe_logical_bytes(i.shape)); }

/// Can it be made again, element by element, for no more than its arithmetic?
bool is_light(const Instruction& i) {
  if (!i.shape.is_array() || !i.called.empty() || !i.control_predecessors.empty() || !i.shape.dynamic.empty()) {
    return false;
  }
  switch (i.opcode) {
    case Opcode::kIota:
    case Opcode::kBroadcast:
    case Opcode::kReshape:
    case Opcode::kBitcast:
    case Opcode::kBitcastConvert:
    case Opcode::kTranspose:
    case Opcode::kSlice:
    case Opcode::kDynamicSlice:
    case Opcode::kReverse:
    case Opcode::kPad:
    case Opcode::kConcatenate: return true;
    default: return memory_class(i.opcode) == MemoryClass::kElementwise && !i.operands.empty();
  }
}

bool is_source(const Instruction& i) {
  return i.opcode == Opcode::kIota || (i.opcode == Opcode::kConstant && element_count(i.shape) == 1);
}

/// Is it there anyway, whoever reads it: an argument that the caller keeps, or what an outer loop carries unchanged?
bool is_kept(const Instruction& i) {
  const Computation& c = *i.parent;
  const Module& module = c.module();
  if (i.opcode == Opcode::kParameter && &c == module.entry) {
    const int64_t number = i.as<ParameterAttributes>().number;
    return std::ranges::none_of(module.input_output_alias, [&](const AliasEntry& a) { return a.operand == number; }) &&
           std::ranges::none_of(module.buffer_donors, [&](const Module::Donor& d) { return d.parameter == number; });
  }
  if (i.opcode != Opcode::kGetTupleElement || i.operand(0).opcode != Opcode::kParameter) return false;
  const auto k = static_cast<size_t>(i.as<TupleIndexAttributes>().index);
  if (c.root->opcode != Opcode::kTuple || k >= c.root->operands.size()) return false;
  const Instruction& next = c.root->operand(k);
  return next.opcode == Opcode::kGetTupleElement && next.operands[0] == i.operands[0] &&
         next.as<TupleIndexAttributes>().index == static_cast<int64_t>(k);
}

/// What a value is made of: operations that can be repeated, and what they rest on.
struct Recipe {
  std::vector<Instruction*> ops;  ///< operands before users
  std::vector<Instruction*> inputs;
  double ns = 0;     ///< of all elements
  double bytes = 0;  ///< of inputs that live longer for it
};

class RecipeFinder {
 public:
  RecipeFinder(const LoopCarry& carry, double bytes) : carry_(carry), bytes_(bytes) {}

  /// The value itself is no input.
  bool find_for(Instruction& value) { return is_light(value) && expand(value); }

  Recipe recipe;

 private:
  bool find(Instruction& value) {
    if (!seen_.insert(&value).second) return true;
    if (is_source(value)) {
      recipe.ops.push_back(&value);
      return true;
    }
    if (!value.shape.is_array() || recipe.ops.size() > kMostOps) return false;
    const bool free = is_carried(value) || is_kept(value);
    const bool small = bytes_of(value) * static_cast<double>(kSmallPart) < bytes_;
    if (is_light(value) && !free && bytes_of(value) >= kFewBytes) {
      // A small value may as well be an input, where what it is made from takes more room.
      const auto seen = seen_;
      const Recipe before = recipe;
      if (expand(value) && (!small || recipe.bytes - before.bytes < bytes_of(value))) return true;
      seen_ = seen;
      recipe = before;
    }
    if (!small && !free) return false;
    recipe.inputs.push_back(&value);
    recipe.bytes += free ? 0 : bytes_of(value);
    return true;
  }

  bool expand(Instruction& value) {
    for (Instruction* operand : value.operands) {
      if (!find(*operand)) return false;
    }
    recipe.ops.push_back(&value);
    recipe.ns += element_ns(value) * elements_of(value.shape);
    return true;
  }

  bool is_carried(const Instruction& value) const {
    for (size_t k = 0; k < carry_.size(); ++k) {
      if (&carry_.initial(k) == &value && carry_.is_invariant(k)) return true;
    }
    return false;
  }

  const LoopCarry& carry_;
  double bytes_;
  std::unordered_set<const Instruction*> seen_;
};

double time_of(const Computation& computation) {
  double ns = 0;
  for (const auto& i : computation.instructions()) {
    if (i->opcode == Opcode::kWhile) {
      ns += guessed_trips(*i) * time_of(*i->called[1]);
    } else if (i->shape.is_array() && i->opcode != Opcode::kParameter) {
      const bool dot = i->opcode == Opcode::kDot || i->opcode == Opcode::kConvolution;
      ns += element_ns(*i) * elements_of(i->shape) * (dot ? kLibraryFactor : 1);
    }
  }
  return ns;
}

/// Elements that the body reads of element k in a trip.
double elements_read(const LoopCarry& carry, size_t k) {
  double elements = 0;
  for (const auto& i : carry.body().instructions()) {
    if (i.get() == carry.body().root) continue;
    for (const Instruction* read : carry.reads(k)) {
      if (std::ranges::find(i->operands, read) == i->operands.end()) continue;
      const bool slices = i->opcode == Opcode::kDynamicSlice || i->opcode == Opcode::kSlice;
      elements += elements_of(slices ? i->shape : read->shape);
    }
  }
  return elements;
}

bool pays(const Instruction& loop, const LoopCarry& carry, size_t k, const Recipe& recipe) {
  const Instruction& value = carry.initial(k);
  if (recipe.bytes * 4 > bytes_of(value)) return false;
  const double elements = elements_of(value.shape), read = elements_read(carry, k);
  const double trips = guessed_trips(loop);
  const double element_ns = recipe.ns / elements;
  const double more = read * (element_ns - stored_bytes(value.shape.type) * kNsPerByte);
  return more <= 0 || read * trips <= elements || more <= kMostTime * time_of(carry.body());
}

/// Puts the recipe into the body.
Instruction* repeat(const Recipe& recipe, LoopCarry& carry) {
  std::map<const Instruction*, Instruction*> now;
  for (Instruction* input : recipe.inputs) now[input] = carry.invariant(*input);
  Computation& body = carry.body();
  Names names(body);
  std::vector<Instruction*> made;
  for (Instruction* op : recipe.ops) {
    auto copy = copy_of(*op);
    copy->name = names.unused(op->name);
    for (Instruction*& operand : copy->operands) operand = now.at(operand);
    made.push_back(now[op] = body.append(std::move(copy)));
  }
  // Behind the reads of the carry, before everything else.
  std::vector<Instruction*> order, rest;
  for (const auto& i : body.instructions()) {
    const bool read = i->opcode == Opcode::kGetTupleElement && i->operand(0).opcode == Opcode::kParameter;
    if (i->opcode == Opcode::kParameter) {
      order.insert(order.begin(), i.get());
    } else if (read) {
      order.push_back(i.get());
    } else if (std::ranges::find(made, i.get()) == made.end()) {
      rest.push_back(i.get());
    }
  }
  order.insert(order.end(), made.begin(), made.end());
  order.insert(order.end(), rest.begin(), rest.end());
  body.reorder(order);
  return made.back();
}

int64_t sink_into(Instruction& loop, const std::unordered_map<const Computation*, int>& callers) {
  LoopCarry carry(loop, callers);
  if (!carry.ok()) return 0;
  int64_t count = 0;
  const size_t elements = carry.size();
  for (size_t k = 0; k < elements; ++k) {
    Instruction& value = carry.initial(k);
    if (!value.shape.is_array() || bytes_of(value) < static_cast<double>(kSmallestSunk) || !carry.is_invariant(k)) {
      continue;
    }
    RecipeFinder finder(carry, bytes_of(value));
    if (!finder.find_for(value) || !pays(loop, carry, k, finder.recipe)) continue;
    const std::vector<Instruction*> reads = carry.reads(k);
    Instruction* made = repeat(finder.recipe, carry);
    for (const auto& i : carry.body().instructions()) {
      for (size_t o = 0; o < i->operands.size(); ++o) {
        const bool hands_on = i.get() == carry.body().root && o == k;
        if (!hands_on && std::ranges::find(reads, i->operands[o]) != reads.end() && i->opcode != Opcode::kCopy) {
          i->operands[o] = made;
        }
      }
    }
    // What comes out of the loop is what went in.
    for (const auto& i : loop.parent->instructions()) {
      for (Instruction*& operand : i->operands) {
        const bool result = operand->opcode == Opcode::kGetTupleElement && operand->operands[0] == &loop &&
                            operand->as<TupleIndexAttributes>().index == static_cast<int64_t>(k);
        if (result) operand = &value;
      }
    }
    ++count;
  }
  return count;
}

}  // namespace

Result<PassResult> sink_hoisted_values(Module& module) {
  PassResult result;
  const auto callers = count_callers(module);
  const std::vector<bool> ordered = ordered_instructions(module);
  // Outer loops first: what is sunk into a body may be sunk on from there.
  std::vector<Computation*> order = module.callees_first();
  for (Computation* computation : std::views::reverse(order)) {
    std::vector<Instruction*> loops;
    for (const auto& i : computation->instructions()) {
      if (i->opcode == Opcode::kWhile && !ordered[static_cast<size_t>(i->id)]) loops.push_back(i.get());
    }
    for (Instruction* loop : loops) result.count += sink_into(*loop, callers);
  }
  result.changed = result.count > 0;
  result.note = fmt::format("{} values sunk into loops", result.count);
  return result;
}

}  // namespace lowtide
