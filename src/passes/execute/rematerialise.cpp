#include "passes/execute/rematerialise.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "analysis/leaf_bytes.h"
#include "analysis/leaves.h"
#include "ir/by_element.h"
#include "passes/rewrite.h"
#include "region/cost.h"
#include "region/region_maker.h"

namespace lowtide::engine {
namespace {

constexpr double kNearPeak = 0.7;          ///< part of the peak from which on saving counts
constexpr int64_t kLeastPart = 512;        ///< of the peak: smaller values aren't considered
constexpr int64_t kLeastBytes = 64 << 10;  ///< smaller values aren't considered
constexpr int64_t kMuchSmaller = 16;       ///< least ratio of its bytes to those of inputs that must live longer
constexpr size_t kMostOps = 200;           ///< operations recomputed for one value
constexpr int32_t kEnd = std::numeric_limits<int32_t>::max();

/// Places are those of the graph. A piece of work is a place whose value is stored, by a region or otherwise.
class Choice {
 public:
  /// A value that is recomputed just before a piece of work, for it and for all later readers.
  struct Again {
    int32_t place = kNoId, behind = kNoId, before = kNoId;
  };

  Choice(const Computation& computation, const ValueGraph& graph, const std::vector<ValueState>& states)
      : is_entry_(computation.module().entry == &computation),
        graph_(graph),
        states_(states),
        maker_(graph, states),
        readers_(static_cast<size_t>(graph.size())) {
    for (int32_t piece = 0; piece < graph.size(); ++piece) {
      for (const LeafRef& input : inputs_of(piece)) readers_of(input).push_back({piece, input.leaf});
    }
    find_load();
  }

  /// Returns the values to recompute, by rising place.
  std::vector<Again> run() {
    std::vector<Again> all;
    if (peak_ < kLeastBytes) return all;
    // In reverse order: recomputing a value adds a late reader to the earlier values that it reads.
    for (int32_t place = graph_.size() - 1; place >= 0; --place) {
      if (!may_be_made_again(place)) continue;
      const auto again = split(place);
      if (!again || !is_cheap(*again)) continue;
      take(*again);
      all.push_back(*again);
    }
    std::ranges::reverse(all);
    return all;
  }

 private:
  struct Reader {
    int32_t piece = kNoId, leaf = 0;
  };

  ValueState state(int32_t place) const { return states_[place]; }
  std::vector<Reader>& readers_of(const LeafRef& input) { return readers_[base(*input.instruction)]; }
  int32_t base(const Instruction& i) const { return base_of(graph_, states_, graph_.place_of(i)); }

  /// The stored values that a piece of work reads; none for other places.
  std::vector<LeafRef> inputs_of(int32_t piece) {
    std::vector<LeafRef> inputs;
    if (state(piece) == ValueState::kGiven) {
      for (const ValueGraph::Read& read : graph_.reads(piece)) inputs.push_back({&graph_.at(read.def), read.leaf});
    }
    if (state(piece) == ValueState::kStored) {
      Region region = maker_.make({&piece, 1});
      inputs = std::move(region.inputs);
      for (const LeafRef& updated : region.updates) {
        if (updated.instruction != nullptr) inputs.push_back(updated);
      }
    }
    return inputs;
  }

  /// Computes the bytes that are live while each piece of work runs.
  void find_load() {
    std::vector<int64_t> change(static_cast<size_t>(graph_.size()) + 1, 0);
    for (int32_t place = 0; place < graph_.size(); ++place) {
      const bool stands_before = graph_.at(place).opcode == Opcode::kParameter;
      if (stands_before || !is_made(state(place))) continue;
      int32_t last = graph_.is_result(place) ? graph_.size() - 1 : place;
      for (const Reader& reader : readers_[place]) last = std::max(last, reader.piece);
      change[place] += bytes(place);
      change[static_cast<size_t>(last) + 1] -= bytes(place);
    }
    std::partial_sum(change.begin(), change.end(), std::back_inserter(load_));
    peak_ = *std::ranges::max_element(load_);
  }
  int64_t bytes(int32_t place) const { return safe_logical_bytes(graph_.at(place).shape); }
  /// The most bytes live between two pieces of work.
  int64_t most_between(int32_t from, int32_t to) const {
    return to - from < 2 ? 0 : *std::max_element(load_.begin() + from + 1, load_.begin() + to);
  }

  bool may_be_made_again(int32_t place) const {
    const Instruction& i = graph_.at(place);
    if (state(place) != ValueState::kStored || graph_.is_result(place)) return false;
    if (!i.shape.is_array() || !has_element(i) || has_update(i) || !i.control_predecessors.empty()) return false;
    return bytes(place) >= std::max(kLeastBytes, peak_ / kLeastPart);
  }

  /// The gap between readers in which most bytes are live; none if that is far from the peak.
  std::optional<Again> split(int32_t place) {
    std::vector<Reader>& readers = readers_[place];
    std::ranges::sort(readers, {}, &Reader::piece);
    auto most = static_cast<int64_t>(kNearPeak * static_cast<double>(peak_));
    std::optional<Again> again;
    int32_t behind = place;
    for (const Reader& reader : readers) {
      if (const int64_t between = most_between(behind, reader.piece); between >= most) {
        most = between;
        again = Again{place, behind, reader.piece};
      }
      behind = reader.piece;
    }
    return again;
  }

  bool is_cheap(const Again& again) {
    const Region region = maker_.make({&again.place, 1});
    const auto is_light = [](const Instruction* i) { return is_by_element(i->opcode); };
    if (region.ops.size() > kMostOps || !std::ranges::all_of(region.ops, is_light)) return false;
    int64_t longer = 0;  // bytes of inputs that must live longer for it
    for (const LeafRef& input : region.inputs) {
      if (last_read(input) >= again.before) continue;
      longer += safe_logical_bytes(*leaf_shape(input.instruction->shape, input.leaf));
    }
    const int64_t own = bytes(again.place);
    const Cost& cost = graph_.target().cost();
    return longer * kMuchSmaller <= own && kernel_ns(region, cost) <= cost.kept_byte_ns() * static_cast<double>(own);
  }

  int32_t last_read(const LeafRef& input) {
    const int32_t def = base(*input.instruction);
    const Opcode opcode = graph_.at(def).opcode;
    if (opcode == Opcode::kConstant || (opcode == Opcode::kParameter && is_entry_)) return kEnd;
    int32_t last = graph_.is_result(def) && opcode != Opcode::kParameter ? kEnd : kNoId;
    for (const Reader& reader : readers_of(input)) {
      if (reader.leaf == input.leaf || def != graph_.place_of(*input.instruction)) last = std::max(last, reader.piece);
    }
    return last;
  }

  void take(const Again& again) {
    for (int32_t at = again.behind + 1; at < again.before; ++at) load_[at] -= bytes(again.place);
    peak_ = *std::ranges::max_element(load_);
    for (const LeafRef& input : inputs_of(again.place)) readers_of(input).push_back({again.before, input.leaf});
  }

  const bool is_entry_;
  const ValueGraph& graph_;
  const std::vector<ValueState>& states_;
  RegionMaker maker_;
  std::vector<std::vector<Reader>> readers_;  ///< by place
  std::vector<int64_t> load_;                 ///< by place
  int64_t peak_ = 0;
};

/// Inserts copies before their first readers, and makes these read them, also through values that are never stored.
class Copies {
 public:
  Copies(Computation& computation, const ValueGraph& graph, const std::vector<ValueState>& states)
      : computation_(computation), graph_(graph), states_(states), names_(computation) {}

  void make(const std::vector<Choice::Again>& all) {
    for (const Choice::Again& again : all) {
      Instruction* copy = clone(at(again.place));
      point(*copy, again.before);
      made_.emplace_back(again.before, copy);
      stands_for_[again.place] = {again.before, copy};
    }
    for (int32_t place = 0; place < graph_.size(); ++place) {
      if (is_piece(place)) point(at(place), place);
    }
    reorder();
  }

 private:
  struct Stand {
    int32_t from = kNoId;  ///< the first place at which it replaces the original; kNoId: the original itself
    Instruction* by = nullptr;
  };

  Instruction& at(int32_t place) const { return const_cast<Instruction&>(graph_.at(place)); }
  bool is_piece(int32_t place) const { return is_made(states_[place]); }

  Instruction* clone(const Instruction& i) {
    auto copy = copy_of(i);
    copy->name = names_.unused(i.name + ".again");
    return computation_.append(std::move(copy));
  }

  /// The value that a reader at `place` reads for this operand.
  Stand stand_of(Instruction* operand, int32_t place) {
    const int32_t def = graph_.place_of(*operand);
    if (is_piece(def)) {
      const auto found = stands_for_.find(def);
      return found != stands_for_.end() && place >= found->second.from ? found->second : Stand{kNoId, operand};
    }
    // A virtual value that reads a copy is copied too, once for all readers up to the next copy that it reads.
    const auto known = virtual_.find({def, from_[def]});
    return known != virtual_.end() ? known->second : Stand{kNoId, operand};
  }

  /// Makes a reader at `place` read the replacements of its operands there.
  void point(Instruction& reader, int32_t place) {
    for (const int32_t def : cone_of(reader)) {
      Instruction& i = at(def);
      int32_t& from = from_[def] = kNoId;
      for (Instruction* operand : i.operands) from = std::max(from, stand_of(operand, place).from);
      if (from == kNoId || virtual_.contains({def, from})) continue;
      Instruction* copy = clone(i);
      for (Instruction*& operand : copy->operands) operand = stand_of(operand, place).by;
      virtual_[{def, from}] = {from, copy};
      made_.emplace_back(std::max(from, def), copy);
    }
    for (Instruction*& operand : reader.operands) operand = stand_of(operand, place).by;
  }

  /// The virtual values on which this reader depends, operands before users.
  std::vector<int32_t> cone_of(const Instruction& reader) const {
    std::vector<int32_t> cone;
    std::unordered_set<int32_t> seen;
    std::vector<const Instruction*> open{&reader};
    while (!open.empty()) {
      const Instruction* i = open.back();
      open.pop_back();
      for (const Instruction* operand : i->operands) {
        const int32_t def = graph_.place_of(*operand);
        if (is_piece(def) || !seen.insert(def).second) continue;
        cone.push_back(def);
        open.push_back(operand);
      }
    }
    std::ranges::sort(cone);
    return cone;
  }

  void reorder() {
    struct Row {
      int32_t at;
      bool is_original;
      Instruction* instruction;
    };
    std::vector<Row> rows;
    for (const auto& [place, copy] : made_) rows.push_back({place, false, copy});
    for (int32_t place = 0; place < graph_.size(); ++place) rows.push_back({place, true, &at(place)});
    std::ranges::stable_sort(rows, {}, [](const Row& row) { return std::pair(row.at, row.is_original); });
    std::vector<Instruction*> order;
    for (const Row& row : rows) order.push_back(row.instruction);
    computation_.reorder(order);
  }

  Computation& computation_;
  const ValueGraph& graph_;
  const std::vector<ValueState>& states_;
  Names names_;
  std::vector<std::pair<int32_t, Instruction*>> made_;    ///< the place that each precedes; operands before users
  std::map<int32_t, Stand> stands_for_;                   ///< of stored values, by place
  std::map<std::pair<int32_t, int32_t>, Stand> virtual_;  ///< of virtual values, by place and the latest copy read
  std::unordered_map<int32_t, int32_t> from_;             ///< for the current reader: the latest copy read, by place
};

}  // namespace

Result<PassResult> rematerialise(Module& module, const Target& target) {
  PassResult result;
  for (const auto& computation : module.computations()) {
    const ValueGraph graph(*computation, target);
    const std::vector<ValueState> states = decide_values(graph, {});
    const std::vector<Choice::Again> all = Choice(*computation, graph, states).run();
    if (all.empty()) continue;
    Copies(*computation, graph, states).make(all);
    result.count += static_cast<int64_t>(all.size());
  }
  result.changed = result.count > 0;
  result.note = fmt::format("{} values made again", result.count);
  return result;
}

}  // namespace lowtide::engine
