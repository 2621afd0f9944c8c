#include "passes/recompute/order.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analysis/depth_first.h"
#include "ir/side_effects.h"
#include "passes/recompute/lives.h"
#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

using Order = std::vector<Instruction*>;

/// A sequence of instructions, each after its operands.
class Sequence {
 public:
  /// Appends an instruction, after those of its operands that aren't in the sequence yet.
  void put(Instruction& wanted) {
    open_.emplace_back(&wanted, false);
    while (!open_.empty()) {
      const auto [i, is_ready] = open_.back();
      open_.pop_back();
      if (done_.contains(i)) continue;
      if (is_ready) {
        done_.insert(i);
        order_.push_back(i);
        continue;
      }
      open_.emplace_back(i, true);
      for (const auto* all : {&i->control_predecessors, &i->operands}) {
        for (auto o = all->rbegin(); o != all->rend(); ++o) open_.emplace_back(*o, false);
      }
    }
  }
  bool has(const Instruction& i) const { return done_.contains(&i); }
  const Order& order() const { return order_; }

 private:
  Order order_;
  std::unordered_set<const Instruction*> done_;
  std::vector<std::pair<Instruction*, bool>> open_;
};

/// The depth-first order; virtual values, which DepthFirst leaves out, come before their first readers.
Order depth_first(const Computation& computation, const std::vector<bool>& is_virtual) {
  Sequence sequence;
  for (const Instruction* i : DepthFirst(computation.module(), is_virtual).of(computation))
    sequence.put(const_cast<Instruction&>(*i));
  for (const auto& i : computation.instructions()) sequence.put(*i);
  return sequence.order();
}

/// Puts elements directly after their tuple, which then has no later readers.
Order with_elements(const Order& given) {
  std::unordered_map<const Instruction*, Order> elements;
  for (Instruction* i : given) {
    if (i->opcode == Opcode::kGetTupleElement) elements[i->operands[0]].push_back(i);
  }
  Order order;
  std::unordered_set<const Instruction*> placed;
  for (Instruction* i : given) {
    Order open{i};
    while (!open.empty()) {
      Instruction* next = open.back();
      open.pop_back();
      if (!placed.insert(next).second) continue;
      order.push_back(next);
      if (const auto of = elements.find(next); of != elements.end())
        open.insert(open.end(), of->second.rbegin(), of->second.rend());
    }
  }
  return order;
}

/// The computation's order, but work that frees at least as much as it allocates runs as soon as possible.
class FreeEarly {
 public:
  FreeEarly(const Computation& computation, const std::vector<bool>& is_virtual)
      : lives_(computation, is_virtual),
        is_virtual_(is_virtual),
        effects_(computation.module()),
        ordered_(ordered_instructions(computation.module())),
        reads_(static_cast<size_t>(lives_.size())),
        readers_(reads_.size()),
        left_(reads_.size(), 0) {
    for (int32_t p = 0; p < lives_.size(); ++p) find_reads(p);
    for (int32_t p = 0; p < lives_.size(); ++p) {
      if (!is_piece(p)) continue;
      for (const int32_t v : reads_[p]) {
        readers_[v].push_back(p);
        ++left_[v];
      }
    }
  }

  Order run() {
    for (int32_t p = 0; p < lives_.size(); ++p) {
      if (is_piece(p)) put(p);
    }
    for (int32_t p = 0; p < lives_.size(); ++p) sequence_.put(lives_.at(p));
    return sequence_.order();
  }

 private:
  static constexpr size_t kMostReads = 256;   ///< of a piece of work that is moved; also of its readers
  static constexpr int64_t kSmall = 1 << 10;  ///< bytes of values that may be computed along with it
  static constexpr int kMostSmall = 64;       ///< such values
  static constexpr int kMostTogether = 4;     ///< pieces that are only worth moving together

  bool is_piece(int32_t place) const {
    const auto id = static_cast<size_t>(lives_.at(place).id);
    return !(id < is_virtual_.size() && is_virtual_[id]) && !Lives::is_name(lives_.at(place)) &&
           lives_.at(place).opcode != Opcode::kTuple;
  }

  /// Finds the pieces of work on which the operands depend.
  void find_reads(int32_t place) {
    std::vector<int32_t>& reads = reads_[place];
    for (const Instruction* operand : lives_.at(place).operands) {
      const int32_t o = lives_.place_of(*operand);
      if (is_piece(o)) {
        reads.push_back(o);
      } else {
        const auto& behind = reads_[o];
        reads.insert(reads.end(), behind.begin(), behind.end());
      }
    }
    std::ranges::sort(reads);
    reads.erase(std::ranges::unique(reads).begin(), reads.end());
  }

  void put(int32_t first) {
    std::vector<int32_t> open;
    run(first, open);
    while (!open.empty()) {
      const int32_t p = open.back();
      open.pop_back();
      if (sequence_.has(lives_.at(p))) continue;
      for (const int32_t q : welcome(p)) run(q, open);
    }
  }

  /// open: work that may be welcome now.
  void run(int32_t place, std::vector<int32_t>& open) {
    Instruction& i = lives_.at(place);
    if (sequence_.has(i)) return;
    sequence_.put(i);
    for (const int32_t v : reads_[place]) {
      if (--left_[v] <= kMostTogether) add_readers(v, open);
    }
    add_readers(place, open);
  }

  void add_readers(int32_t value, std::vector<int32_t>& open) const {
    const auto& readers = readers_[value];
    if (readers.size() <= kMostReads) open.insert(open.end(), readers.rbegin(), readers.rend());
  }

  /// Is the value computed, or small and computable from computed ones, as an index is?
  bool is_ready(int32_t place, int& budget) const {
    const Instruction& i = lives_.at(place);
    if (sequence_.has(i)) return true;
    if (--budget < 0 || lives_.bytes(place) > kSmall || !i.shape.is_array() || may_not_move(i)) return false;
    return std::ranges::all_of(reads_[place], [&](int32_t v) { return is_ready(v, budget); });
  }

  bool may_not_move(const Instruction& i) const { return effects_.has(i) || ordered_[i.id]; }

  /// Could it run now?
  bool could_run(int32_t place) const {
    const Instruction& i = lives_.at(place);
    const auto& reads = reads_[place];
    if (!i.shape.is_array() || may_not_move(i)) return false;
    if (reads.size() > kMostReads || lives_.bytes(place) == 0) return false;
    return std::ranges::all_of(reads, [&](int32_t v) {
      int budget = kMostSmall;
      return is_ready(v, budget);
    });
  }

  /// Would they together free at least as much as they allocate?
  bool frees_enough(const std::vector<int32_t>& work) const {
    int64_t growth = 0;
    std::vector<int32_t> reads;
    for (const int32_t p : work) {
      growth += lives_.bytes(p);
      reads.insert(reads.end(), reads_[p].begin(), reads_[p].end());
    }
    std::ranges::sort(reads);
    for (auto at = reads.begin(); at != reads.end();) {
      const int32_t v = *at;
      const auto end = std::upper_bound(at, reads.end(), v);
      if (end - at == left_[v] && lives_.last_read(v) < lives_.size()) growth -= lives_.bytes(v);
      at = end;
    }
    return growth <= 0;
  }

  /// Work that could run now, and would free at least as much as it allocates: this alone, or with all others that read
  /// one of its operands, as the gradients of a weight and of a bias do. Empty: none.
  std::vector<int32_t> welcome(int32_t place) const {
    if (!could_run(place)) return {};
    if (frees_enough({place})) return {place};
    for (const int32_t v : reads_[place]) {
      if (left_[v] < 2 || left_[v] > kMostTogether || lives_.bytes(v) <= lives_.bytes(place)) continue;
      std::vector<int32_t> together;
      for (const int32_t reader : readers_[v]) {
        if (!sequence_.has(lives_.at(reader))) together.push_back(reader);
      }
      const auto could = [&](int32_t reader) { return reader == place || could_run(reader); };
      if (std::ranges::all_of(together, could) && frees_enough(together)) return together;
    }
    return {};
  }

  const Lives lives_;
  const std::vector<bool>& is_virtual_;
  const SideEffects effects_;
  const std::vector<bool> ordered_;
  std::vector<std::vector<int32_t>> reads_;  ///< by place: the pieces that each depends on
  std::vector<std::vector<int32_t>> readers_;
  std::vector<int32_t> left_;  ///< remaining readers
  Sequence sequence_;
};

/// Do operations with effects keep their order?
bool keeps_effects(const Order& given, const Order& order, const SideEffects& effects) {
  const auto only = [&](const Order& all) {
    Order some;
    std::ranges::copy_if(all, std::back_inserter(some), [&](const Instruction* i) { return effects.has(*i); });
    return some;
  };
  return only(given) == only(order);
}

}  // namespace

void put_in_good_order(Computation& computation) {
  const std::vector<bool> is_virtual = find_virtual_values(computation.module());
  Order given, best;
  for (const auto& i : computation.instructions()) given.push_back(i.get());
  const SideEffects effects(computation.module());
  int64_t least = 0;
  const auto offer = [&](const Order& order) {
    computation.reorder(order);
    const int64_t most = Lives(computation, is_virtual).most();
    if (!best.empty() && most >= least) return;
    least = most;
    best = order;
  };
  for (const Order& order : {given, depth_first(computation, is_virtual)}) {
    if (!keeps_effects(given, order, effects)) continue;
    offer(with_elements(order));
    offer(with_elements(FreeEarly(computation, is_virtual).run()));
  }
  computation.reorder(best);
}

}  // namespace lowtide::engine
