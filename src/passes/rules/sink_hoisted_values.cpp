#include "passes/rules/sink_hoisted_values.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <unordered_set>

#include "analysis/evaluations.h"
#include "analysis/leaf_bytes.h"
#include "ir/element_read.h"
#include "passes/rules/loop_carry.h"
#include "passes/rules/recipe.h"

namespace lowtide::engine {
namespace {

constexpr size_t kFewOps = 4;          ///< small integers that so few operations compute from constants are sunk, too
constexpr double kFewBytes = 1 << 12;  ///< smaller values aren't traced further

double value_bytes(const Instruction& i) { return static_cast<double>(safe_logical_bytes(i.shape)); }

class RecipeFinder {
 public:
  RecipeFinder(const Instruction& loop, const LoopCarry& carry, const Cost& cost, double bytes)
      : loop_(loop), carry_(carry), cost_(cost), bytes_(bytes) {}

  /// The value itself may not be an input.
  bool find_for(Instruction& value) { return may_be_repeated(value) && expand(value); }
  const Recipe& recipe() const { return trail_.recipe; }

 private:
  /// Rows that a gather takes in a computed order are taken in the loop as well, each once.
  static bool may_be_repeated(const Instruction& value) {
    return is_light(value) || (value.opcode == Opcode::kGather && is_plain_array(value));
  }

  bool find(Instruction& value) {
    if (!trail_.look_at(value)) return true;
    Recipe& recipe = trail_.recipe;
    if (is_source(value)) {
      recipe.ops.push_back(&value);
      return true;
    }
    if (!value.shape.is_array() || recipe.ops.size() > kMostRecipeOps) return false;
    const bool free = is_carried(value) || is_kept(value, loop_);
    const bool small = value_bytes(value) * static_cast<double>(kSmallPart) < bytes_;
    const bool is_tried = !free && value_bytes(value) >= kFewBytes && !not_repeated_.contains(&value);
    if (is_tried && may_be_repeated(value)) {
      // A small value may be an input itself, if its operands would keep more bytes live.
      const RecipeTrail::Place before = trail_.place();
      if (expand(value) && (!small || recipe.bytes - before.bytes < value_bytes(value))) return true;
      trail_.return_to(before);
      not_repeated_.insert(&value);  // else each of its readers would try all that it depends on again
    }
    if (!small && !free) return false;
    recipe.inputs.push_back(&value);
    recipe.bytes += free ? 0 : value_bytes(value);
    return true;
  }

  bool expand(Instruction& value) {
    for (Instruction* operand : value.operands) {
      if (!find(*operand)) return false;
    }
    trail_.recipe.ops.push_back(&value);
    trail_.recipe.ns += cost_.element_ns(value) * elements_of(value.shape);
    return true;
  }

  bool is_carried(const Instruction& value) const {
    for (size_t k = 0; k < carry_.size(); ++k) {
      if (&carry_.initial(k) == &value && carry_.is_invariant(k)) return true;
    }
    return false;
  }

  const Instruction& loop_;
  const LoopCarry& carry_;
  const Cost& cost_;
  double bytes_;
  RecipeTrail trail_;
  std::unordered_set<const Instruction*> not_repeated_;  ///< tried in vain
};

/// Elements that the body reads of element k in an iteration.
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

/// What is read as a row of a transposed array is a column of the array itself: the time to read its elements, which
/// lie apart, in an iteration.
double columns_ns(const LoopCarry& carry, size_t k, const Cost& cost) {
  const Instruction* value = &carry.initial(k);
  while (value->opcode != Opcode::kTranspose) {
    if (memory_class(value->opcode) != MemoryClass::kElementwise || value->operands.size() != 1) return 0;
    value = value->operands[0];
  }
  const Dims& permutation = value->as<DimensionsAttributes>().dimensions;
  double ns = 0;
  for (const Instruction* read : carry.reads(k)) {
    for (const auto& i : carry.body().instructions()) {
      if (i->opcode != Opcode::kDynamicSlice || i->operands[0] != read) continue;
      Dims box(permutation.size());
      for (size_t d = 0; d < box.size(); ++d) box[permutation[d]] = i->shape.dims[d];
      ns += cost.columns_ns(value->operand(0).shape, Shape::array(value->shape.type, box));
    }
  }
  return ns;
}

bool pays(const Instruction& loop, const LoopCarry& carry, const Cost& cost, size_t k, const Recipe& recipe) {
  const Instruction& value = carry.initial(k);
  if (recipe.bytes * 4 > value_bytes(value)) return false;
  const double elements = elements_of(value.shape), read = elements_read(carry, k);
  const double trips = guessed_trips(loop);
  const double element_ns = recipe.ns / elements;
  const double columns = columns_ns(carry, k, cost);
  const double more = read * (element_ns - stored_bytes(value.shape.type) * cost.byte_ns()) + columns;
  if (columns == 0 && read * trips <= elements) return true;
  const auto gathers = [](const Instruction* i) { return i->opcode == Opcode::kGather; };
  if (std::ranges::any_of(recipe.ops, gathers)) return false;
  return more <= 0 || more <= kMostTime * time_of(carry.body(), cost);
}

/// Copies the recipe into the body.
Instruction* repeat(const Recipe& recipe, LoopCarry& carry, Names& names) {
  std::map<const Instruction*, Instruction*> now;
  for (Instruction* input : recipe.inputs) now[input] = carry.invariant(*input, &names);
  Computation& body = carry.body();
  std::vector<Instruction*> made;
  for (Instruction* op : recipe.ops) {
    auto copy = copy_of(*op);
    copy->name = names.unused(op->name);
    for (Instruction*& operand : copy->operands) operand = now.at(operand);
    made.push_back(now[op] = body.append(std::move(copy)));
  }
  // After the reads of loop-carried values, before everything else.
  carry.put_reads_first();
  std::vector<Instruction*> order;
  bool placed = false;
  for (const auto& i : body.instructions()) {
    if (!is_given_to_computation(*i) && !placed) {
      order.insert(order.end(), made.begin(), made.end());
      placed = true;
    }
    if (std::ranges::find(made, i.get()) == made.end()) order.push_back(i.get());
  }
  body.reorder(order);
  return made.back();
}

int64_t sink_into(Instruction& loop, const std::unordered_map<const Computation*, int>& callers, const Cost& cost) {
  LoopCarry carry(loop, callers);
  if (!carry.ok()) return 0;
  int64_t count = 0;
  const size_t elements = carry.size();
  Names names(carry.body());
  std::vector<std::vector<const Instruction*>> taken_out(elements);
  for (const auto& i : loop.parent->instructions()) {
    if (i->opcode == Opcode::kGetTupleElement && i->operands[0] == &loop)
      taken_out[i->as<TupleIndexAttributes>().index].push_back(i.get());
  }
  for (size_t k = 0; k < elements; ++k) {
    Instruction& value = carry.initial(k);
    if (!value.shape.is_array() || !carry.is_invariant(k)) continue;
    RecipeFinder finder(loop, carry, cost, value_bytes(value));
    if (!finder.find_for(value)) continue;
    const bool made_of_nothing =
        is_integral(value.shape.type) && finder.recipe().inputs.empty() && finder.recipe().ops.size() <= kFewOps;
    if (value_bytes(value) < static_cast<double>(kSmallestSunk) ? !made_of_nothing
                                                                : !pays(loop, carry, cost, k, finder.recipe())) {
      continue;
    }
    const std::vector<Instruction*> reads = carry.reads(k);
    Instruction* made = repeat(finder.recipe(), carry, names);
    for (const auto& i : carry.body().instructions()) {
      for (size_t o = 0; o < i->operands.size(); ++o) {
        const bool hands_on = i.get() == carry.body().root && o == k;
        if (!hands_on && std::ranges::find(reads, i->operands[o]) != reads.end() && i->opcode != Opcode::kCopy) {
          i->operands[o] = made;
        }
      }
    }
    if (!taken_out[k].empty()) {  // the loop returns the initial value
      for (const auto& i : loop.parent->instructions()) {
        for (Instruction*& operand : i->operands) {
          if (std::ranges::find(taken_out[k], operand) != taken_out[k].end()) operand = &value;
        }
      }
    }
    ++count;
  }
  return count;
}

}  // namespace

Result<PassResult> sink_hoisted_values(Module& module, const Target& target) {
  if (!has_any(module, {Opcode::kWhile})) return PassResult{};
  int64_t count = 0;
  const auto callers = count_callers(module);
  const std::vector<bool> ordered = ordered_instructions(module);
  // Outer loops first: values that were sunk into a body may be sunk further from there.
  std::vector<Computation*> order = module.callees_first();
  for (Computation* computation : std::views::reverse(order)) {
    std::vector<Instruction*> loops;
    for (const auto& i : computation->instructions()) {
      if (i->opcode == Opcode::kWhile && !ordered[i->id]) loops.push_back(i.get());
    }
    for (Instruction* loop : loops) count += sink_into(*loop, callers, target.cost());
  }
  return rewritten(count, "values sunk into loops");
}

}  // namespace lowtide::engine
