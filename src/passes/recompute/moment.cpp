#include "passes/recompute/moment.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "analysis/leaf_bytes.h"
#include "passes/recompute/keep_or_make.h"
#include "passes/recompute/making.h"
#include "passes/rewrite.h"
#include "passes/rules/recipe.h"

namespace lowtide::engine {
namespace {

constexpr double kJustMade = 0.5;  ///< of the price, for values computed just before

}  // namespace

double price_of_age(int32_t place, int32_t fullest) {
  const double ago = static_cast<double>(fullest - place) / std::max(1, fullest);
  return kJustMade + (1 - kJustMade) * ago;
}

Moment::Moment(Computation& computation)
    : computation_(computation),
      lives_(computation, find_virtual_values(computation.module())),
      fullest_(lives_.fullest()) {}

std::vector<bool> Moment::choose(const Target& target, double ns_per_byte) const {
  const std::unordered_set<const Instruction*> fixed = find_fixed(computation_);
  const auto prices_of = [&](int32_t place) -> KeepOrMake::Prices {
    const Instruction& i = lives_.at(place);
    const double make = fixed.contains(&i) ? KeepOrMake::kNever : make_ns(i, target.cost());
    // A tuple is kept as long as its elements. One that can't be recomputed, such as a token, takes no memory.
    if (!i.shape.is_array()) return {make == KeepOrMake::kNever ? 0 : KeepOrMake::kNever, make};
    const int32_t last = lives_.last_read(place);
    const bool stands = i.opcode == Opcode::kParameter && (!is_donated(i) || last > fullest_);
    if (stands || i.opcode == Opcode::kConstant || last == lives_.size() || is_in_host(i.shape)) return {0, make};
    const double price = ns_per_byte * price_of_age(place, fullest_);
    return {price * static_cast<double>(safe_logical_bytes(i.shape)), make};
  };
  std::vector<KeepOrMake::Prices> prices;
  for (int32_t p = 0; p <= fullest_; ++p) prices.push_back(prices_of(p));
  KeepOrMake choice(std::move(prices));
  for (int32_t p = 0; p < lives_.size(); ++p) {
    for (const Instruction* operand : lives_.at(p).operands) {
      const int32_t o = lives_.place_of(*operand);
      if (o > fullest_) continue;
      if (p <= fullest_) {
        choice.reads(static_cast<size_t>(p), static_cast<size_t>(o));
      } else {
        choice.need(static_cast<size_t>(o));
      }
    }
  }
  std::vector<bool> made;
  for (const KeepOrMake::Choice c : choice.choose()) made.push_back(c == KeepOrMake::Choice::kMake);
  return made;
}

int64_t make_again(Computation& computation, int32_t place, const std::vector<bool>& made) {
  std::vector<Instruction*> given, order;
  std::unordered_set<const Instruction*> wanted;
  for (const auto& i : computation.instructions()) {
    if (std::ssize(given) <= place && made[given.size()]) wanted.insert(i.get());
    given.push_back(i.get());
  }
  const auto after = given.begin() + place + 1;
  order.assign(given.begin(), after);

  // All elements of a recomputed tuple are read at once: later readers use those.
  std::unordered_map<const Instruction*, std::vector<Instruction*>> elements;
  for (auto i = given.begin(); i != after; ++i) {
    if ((*i)->opcode == Opcode::kGetTupleElement && wanted.contains(*i)) elements[(*i)->operands[0]].push_back(*i);
  }

  Names names(computation);
  std::unordered_map<const Instruction*, Instruction*> again;
  const auto make = [&](Instruction* value) {
    std::vector<Instruction*> open{value};
    while (!open.empty()) {
      Instruction* i = open.back();
      const auto missing = std::ranges::find_if(i->operands, [&](const Instruction* operand) {
        return wanted.contains(operand) && !again.contains(operand);
      });
      if (missing != i->operands.end()) {
        open.push_back(*missing);
        continue;
      }
      open.pop_back();
      if (again.contains(i)) continue;
      auto copy = copy_of(*i);
      copy->name = names.unused(i->name.substr(0, i->name.find(kAgain)) + std::string(kAgain));
      for (Instruction*& operand : copy->operands) operand = wanted.contains(operand) ? again.at(operand) : operand;
      order.push_back(again[i] = computation.append(std::move(copy)));
      if (const auto of = elements.find(i); of != elements.end())
        open.insert(open.end(), of->second.rbegin(), of->second.rend());
    }
  };
  std::for_each(after, given.end(), [&](Instruction* reader) {
    for (Instruction*& operand : reader->operands) {
      if (!wanted.contains(operand)) continue;
      if (!again.contains(operand)) make(operand);
      operand = again.at(operand);
    }
    order.push_back(reader);
  });
  computation.reorder(order);
  return std::ssize(again);
}

}  // namespace lowtide::engine
