#include "passes/recompute/recompute_stacks.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "analysis/leaf_bytes.h"
#include "ir/element_read.h"
#include "passes/recompute/later_values.h"
#include "passes/recompute/making.h"
#include "passes/rules/recipe.h"
#include "passes/rules/saved_stacks.h"

namespace lowtide::engine {
namespace {

using Choice = KeepOrMake::Choice;

constexpr double kSmallestStacks = 1 << 14;  ///< bytes of all stacks together from which on this pays
constexpr double kCheapPart = 0.03;          ///< of the reading loop's time: what recomputing may take anyway
constexpr double kDearest = 1024;            ///< times what writing and reading a byte takes: the highest price
constexpr double kWorthPart = 0.03;          ///< of these bytes: the least saving

double bytes_of(const Instruction& i) { return static_cast<double>(safe_logical_bytes(i.shape)); }

/// A loop that fills stacks, and the only loop that reads some of them, at one place.
class Pair {
 public:
  Pair(Instruction& loop, Instruction& reader, Instruction& place, const Uses& uses, const Callers& callers,
       const Ties& ties)
      : reader_(reader),
        place_(place),
        callers_(callers),
        saved_(loop, uses, callers),
        later_(saved_, reader, place, uses, callers),
        body_(instructions_of(saved_.carry().body())),
        fixed_(find_fixed(saved_.carry().body(), ties)) {
    for (size_t k = 0; k < body_.size(); ++k) number_[body_[k]] = k;
    for (SavedStack& s : saved_.all()) {
      const bool here = std::ranges::all_of(
          s.reads, [&](const StackRead& r) { return r.loop == &reader_ && s.place_of(r) == &place_; });
      const bool is_free = s.may_go && here && !s.reads.empty();
      (is_free ? free_ : others_).push_back(&s);
    }
  }

  /// What is kept and recomputed: of the first body's values, then of those that the later loop could have saved.
  std::vector<Choice> choose(const Cost& cost, double ns_per_byte) {
    double before = 0;
    for (const SavedStack* s : free_) before += bytes_of(*s->value);
    if (before * static_cast<double>(saved_.trips()) < kSmallestStacks) return {};
    std::vector<KeepOrMake::Prices> prices;
    for (const Instruction* i : body_) prices.push_back(prices_of(*i, cost, ns_per_byte));
    for (const LaterValues::Value& v : later_.all()) {
      prices.push_back({v.stack != nullptr ? KeepOrMake::kNever : ns_per_byte * bytes_of(*v.made), 0});
    }
    KeepOrMake choice(std::move(prices));
    for (size_t k = 0; k < body_.size(); ++k) {
      for (const Instruction* operand : body_[k]->operands) choice.reads(k, number_.at(operand));
    }
    for (size_t n = 0; n < later_.all().size(); ++n) {
      const LaterValues::Value& v = later_.all()[n];
      if (v.stack != nullptr) choice.reads(body_.size() + n, number_.at(v.stack->value));
      for (const size_t operand : v.operands) choice.reads(body_.size() + n, body_.size() + operand);
      if (v.is_needed) choice.need(body_.size() + n);
    }
    std::vector<Choice> choices = choice.choose();
    if (!changes_any(choices)) return {};
    double after = 0;
    for (size_t k = 0; k < choices.size(); ++k) {
      if (choices[k] != Choice::kKeep) continue;
      const Instruction& i = k < body_.size() ? *body_[k] : *later_.all()[k - body_.size()].made;
      const bool is_later = k >= body_.size();
      if (is_later || (is_to_be_saved(i) && other_stack_of(i) == nullptr)) after += bytes_of(i);
    }
    return before - after >= kWorthPart * before ? choices : std::vector<Choice>();
  }

  /// Recomputes what is cheaper to recompute than to write and read, or takes little of the reading loop's time.
  std::vector<Choice> choose_cheap(const Cost& cost) {
    const double traffic = 2 * cost.shared_byte_ns();
    const double most = kCheapPart * time_of(*reader_.called[1], cost) / cost.machine().cores;
    for (double price = kDearest * traffic; price > traffic; price /= 2) {
      std::vector<Choice> choices = choose(cost, price);
      if (choices.empty()) continue;
      double ns = 0;
      for (size_t k = 0; k < body_.size(); ++k) ns += choices[k] == Choice::kMake ? make_ns(*body_[k], cost) : 0;
      if (ns <= most) return choices;
    }
    return choose(cost, traffic);
  }

  /// Is a stack no longer saved?
  bool changes_any(const std::vector<Choice>& choices) const {
    return std::ranges::any_of(free_,
                               [&](const SavedStack* s) { return choices[number_.at(s->value)] != Choice::kKeep; });
  }

  StacksChoice named(const std::vector<Choice>& choices) const {
    StacksChoice choice{full_name(saved_.loop()), full_name(reader_), full_name(place_), {}, {}};
    for (size_t k = 0; k < body_.size(); ++k) choice.choices.emplace(body_[k]->name, choices[k]);
    for (size_t n = 0; n < later_.all().size(); ++n) {
      if (choices[body_.size() + n] == Choice::kKeep) choice.later.push_back(later_.all()[n].made->name);
    }
    return choice;
  }

  /// Those choices in a similar body: an instruction without a choice is recomputed for recomputed readers; empty:
  /// impossible.
  std::vector<Choice> choices_like(const StacksChoice& choice) const {
    std::vector<Choice> choices;
    for (const Instruction* i : body_) {
      const auto known = choice.choices.find(i->name);
      choices.push_back(known == choice.choices.end() ? Choice::kNotNeeded : known->second);
    }
    for (size_t k = body_.size(); k-- > 0;) {
      if (choices[k] != Choice::kMake) continue;
      if (fixed_.contains(body_[k]) && body_[k]->opcode != Opcode::kConstant) return {};
      for (const Instruction* operand : body_[k]->operands) {
        Choice& of_operand = choices[number_.at(operand)];
        if (of_operand == Choice::kNotNeeded)
          of_operand = is_given_to_computation(*operand) ? Choice::kKeep : Choice::kMake;
      }
    }
    for (const LaterValues::Value& v : later_.all()) {
      const bool is_kept = v.stack == nullptr && std::ranges::find(choice.later, v.made->name) != choice.later.end();
      choices.push_back(is_kept ? Choice::kKeep : Choice::kMake);
    }
    if (!changes_any(choices)) return {};
    return choices;
  }

  void apply(const std::vector<Choice>& choices) {
    for (size_t n = 0; n < later_.all().size(); ++n) {
      if (choices[body_.size() + n] == Choice::kKeep) later_.save(later_.all()[n]);
    }
    const auto makes = [&](const SavedStack* s) { return choices[number_.at(s->value)] == Choice::kMake; };
    if (std::ranges::any_of(free_, makes)) recompute(choices);
  }

 private:
  void recompute(const std::vector<Choice>& choices) {
    std::unordered_map<const Instruction*, SavedStack*> stack_of;
    for (const auto* all : {&others_, &free_}) {
      for (SavedStack* s : *all) stack_of[s->value] = s;
    }
    for (size_t k = 0; k < body_.size(); ++k) {
      const Instruction& i = *body_[k];
      if (choices[k] == Choice::kKeep && is_to_be_saved(i) && !stack_of.contains(&i))
        stack_of[&i] = &saved_.save(*body_[k]);
    }

    LoopCarry carry(reader_, callers_);
    InstructionMap now, stacks;
    for (size_t k = 0; k < body_.size(); ++k) {
      if (choices[k] != Choice::kKeep) continue;
      const Instruction& i = *body_[k];
      if (const int64_t element = saved_.carry().invariant_of(i); element >= 0) {
        now[&i] = carry.invariant(saved_.carry().initial(static_cast<size_t>(element)));
      } else if (const auto stack = stack_of.find(&i); stack != stack_of.end()) {
        stacks[&i] = carry.invariant(*stack->second->result);
      }
    }
    carry.put_reads_first();
    const std::vector<Instruction*> before = instructions_of(carry.body());
    Maker maker(carry.body());
    for (size_t k = 0; k < body_.size(); ++k) {
      Instruction& i = *body_[k];
      if (const auto stack = stacks.find(&i); stack != stacks.end()) {
        now[&i] = stack_of.at(&i)->slice_at(stack->second, &place_, i.shape, maker);
      } else if (choices[k] == Choice::kKeep && saved_.reads_element(i, saved_.counter())) {
        now[&i] = saved_.trip_at(&place_, i.shape.type, maker);
      } else if (choices[k] == Choice::kMake) {
        now[&i] = maker.copy(i, now);
      }
    }
    InstructionMap by;
    for (const SavedStack* s : free_) {
      if (choices[number_.at(s->value)] != Choice::kMake) continue;
      for (const StackRead& read : s->reads) by[read.slice] = maker.reshape(now.at(s->value), read.slice->shape.dims);
    }
    for (Instruction* i : before) read_instead(i->operands, by);
    put_made_late(carry.body(), before, maker.order());
  }

  /// A stack of this value that is there anyway; null: there is none.
  const SavedStack* other_stack_of(const Instruction& value) const {
    const auto other = std::ranges::find(others_, &value, &SavedStack::value);
    return other == others_.end() ? nullptr : *other;
  }

  KeepOrMake::Prices prices_of(const Instruction& i, const Cost& cost, double ns_per_byte) const {
    if (i.opcode == Opcode::kParameter) return {0, KeepOrMake::kNever};
    if (i.opcode == Opcode::kConstant) return {KeepOrMake::kNever, 0};
    if (const int64_t element = saved_.carry().invariant_of(i); element >= 0) {
      const Instruction& initial = saved_.carry().initial(static_cast<size_t>(element));
      return {ns_per_byte * kept_longer(initial, reader_) / static_cast<double>(saved_.trips()), KeepOrMake::kNever};
    }
    if (saved_.reads_element(i, saved_.counter())) return {0, KeepOrMake::kNever};
    const double make = fixed_.contains(&i) || element_read(i) >= 0 ? KeepOrMake::kNever : make_ns(i, cost);
    if (!i.shape.is_array()) return {make == KeepOrMake::kNever ? 0 : KeepOrMake::kNever, make};
    const SavedStack* other = other_stack_of(i);
    const double bytes =
        other == nullptr ? bytes_of(i) : kept_longer(*other->result, reader_) / static_cast<double>(saved_.trips());
    return {ns_per_byte * bytes, make};
  }

  /// Must it be saved to be available, and is it an array?
  bool is_to_be_saved(const Instruction& i) const {
    return i.shape.is_array() && i.opcode != Opcode::kParameter && saved_.carry().invariant_of(i) < 0 &&
           !saved_.reads_element(i, saved_.counter());
  }

  Instruction& reader_;
  Instruction& place_;
  const Callers& callers_;
  SavedStacks saved_;
  LaterValues later_;
  const std::vector<Instruction*> body_;
  const std::unordered_set<const Instruction*> fixed_;  ///< of the body: they can't be recomputed
  std::unordered_map<const Instruction*, size_t> number_;
  std::vector<SavedStack*> free_, others_;
};

/// choose: chooses for a pair; empty: nothing changes.
std::vector<StacksChoice> recompute_stacks(Module& module, const std::function<std::vector<Choice>(Pair&)>& choose) {
  std::vector<StacksChoice> done;
  const std::vector<Instruction*> loops = free_loops(module);
  if (loops.empty()) return done;  // of most programs; what follows looks at the whole module
  const Callers callers = count_callers(module);
  const Ties ties(module);
  Uses uses(module);
  for (Instruction* loop : loops) {
    for (const auto& [reader, place] : SavedStacks(*loop, uses, callers).readers()) {
      Pair pair(*loop, *reader, *place, uses, callers, ties);
      const std::vector<Choice> choices = choose(pair);
      if (choices.empty()) continue;
      done.push_back(pair.named(choices));
      pair.apply(choices);
      uses = Uses(module);
    }
  }
  return done;
}

}  // namespace

std::vector<StacksChoice> recompute_stacks(Module& module, const Target& target, double ns_per_byte) {
  return recompute_stacks(module, [&](Pair& pair) { return pair.choose(target.cost(), ns_per_byte); });
}

Result<PassResult> recompute_cheap_stacks(Module& module, const Target& target) {
  if (!has_any(module, {Opcode::kWhile})) return PassResult{};
  const auto done = recompute_stacks(module, [&](Pair& pair) { return pair.choose_cheap(target.cost()); });
  return rewritten(std::ssize(done), "loops save less");
}

bool recompute_stacks_alike(Module& module, const StacksChoice& choice) {
  Instruction* const loop = find_named(module, choice.loop);
  Instruction* const reader = find_named(module, choice.reader);
  Instruction* const place = find_named(module, choice.place);
  if (!loop || !reader || !place || loop->opcode != Opcode::kWhile) return false;
  const Callers callers = count_callers(module);
  const Uses uses(module);
  const auto readers = SavedStacks(*loop, uses, callers).readers();
  const bool reads = std::ranges::find(readers, std::pair(reader, place)) != readers.end();
  if (!reads) return false;
  Pair pair(*loop, *reader, *place, uses, callers, Ties(module));
  const std::vector<Choice> choices = pair.choices_like(choice);
  if (choices.empty()) return false;
  pair.apply(choices);
  return true;
}

}  // namespace lowtide::engine
