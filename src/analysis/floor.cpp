#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "analysis/account.h"
#include "analysis/donation.h"
#include "analysis/in_place.h"
#include "analysis/loop_fusion.h"
#include "analysis/partitioning.h"
#include "analysis/values.h"
#include "base/sizes.h"

namespace lowtide::engine {
namespace {

/// The number of operations, those that touch most bytes, for which the values that must be held are computed.
constexpr size_t kCandidates = 48;

/// Could a result ever be written over an operand? If in doubt, yes: a lower bound may be too low, but not too high.
bool may_reuse(const Instruction& i) {
  switch (memory_class(i.opcode)) {
    case MemoryClass::kIndexMap: return i.opcode == Opcode::kDynamicUpdateSlice;
    case MemoryClass::kReduce:
    case MemoryClass::kContract: return false;
    default: return true;
  }
}

bool passes_on(Opcode opcode) {
  return opcode == Opcode::kTuple || opcode == Opcode::kGetTupleElement || opcode == Opcode::kParameter ||
         opcode == Opcode::kConstant || opcode == Opcode::kBitcast || opcode == Opcode::kReshape;
}

std::vector<const Instruction*> in_written_order(const Computation& computation) {
  std::vector<const Instruction*> order;
  for (const auto& i : computation.instructions()) order.push_back(i.get());
  return order;
}

/// Values that are live together. Values that may share a buffer count once, as the largest of them.
class LiveSet {
 public:
  LiveSet(const std::vector<int32_t>& buffer_of, const std::vector<int64_t>& bytes)
      : buffer_of_(buffer_of), bytes_(bytes) {}
  void add(int32_t value) {
    int64_t& largest = held_[buffer_of_[value]];
    const int64_t size = bytes_[value];
    if (size > largest) sum_ = add_bytes(sum_, size - largest), largest = size;
  }
  bool has(int32_t value) const { return held_.contains(buffer_of_[value]); }
  int64_t bytes() const { return sum_; }

 private:
  const std::vector<int32_t>& buffer_of_;
  const std::vector<int64_t>& bytes_;
  std::unordered_map<int32_t, int64_t> held_;
  int64_t sum_ = 0;
};

Partitioning partitioning_of(const Module& module) {
  std::vector<std::string> ignored;
  return find_partitioning(module, ignored);
}

class FloorOfOrder {
 public:
  explicit FloorOfOrder(const Module& module)
      : module_(module),
        leaves_(module),
        virtual_(fuse_loops(module)),
        sizes_(partitioning_of(module)),
        donation_(find_donation(module, leaves_, sizes_, /*with_donors=*/true)),
        timeline_(lay_out(module, leaves_, in_written_order)),
        values_(find_values(module, leaves_, timeline_, donation_, {.reshape_is_view = true})) {}

  Floor run() {
    Floor best;
    if (timeline_.frames.empty()) return best;
    measure_values();
    std::vector<Candidate> candidates = touch_all();
    const size_t count = std::min(kCandidates, candidates.size());
    std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(count), candidates.end(),
                      [](const Candidate& a, const Candidate& b) { return a.touched > b.touched; });
    for (size_t c = 0; c < count; ++c) consider(candidates[c].step, best);
    return best;
  }

 private:
  struct Candidate {
    int64_t touched = 0;
    Step step = 0;
  };

  const Frame& frame_of(Step s) const { return timeline_.frames[timeline_.frame_of[s]]; }

  int32_t value(const Frame& frame, const Instruction& i, int32_t leaf) const {
    return values_.of_leaf[frame.first_leaf + leaves_.first(i) + leaf];
  }

  void measure_values() {
    const size_t count = values_.of_leaf.size();
    bytes_.assign(count, 0);
    buffer_of_.resize(count);
    std::iota(buffer_of_.begin(), buffer_of_.end(), 0);
    const auto find = [&](int32_t v) {
      while (buffer_of_[v] != v) {
        buffer_of_[v] = buffer_of_[buffer_of_[v]];
        v = buffer_of_[v];
      }
      return v;
    };
    for (const auto& [a, b] : values_.tied) buffer_of_[find(a)] = find(b);
    for (size_t v = 0; v < count; ++v) buffer_of_[v] = find(static_cast<int32_t>(v));
    for (Step s = 0; s < static_cast<Step>(timeline_.steps.size()); ++s) {
      const Instruction& i = *timeline_.steps[s].instruction;
      const Frame& frame = frame_of(s);
      for (int32_t l = 0; l < leaves_.count(i); ++l) {
        const int32_t leaf = frame.first_leaf + leaves_.first(i) + l;
        if (values_.of_leaf[leaf] != leaf) continue;
        const LeafBytes size = sizes_.of(i, l);
        if (size.memory_space == 0) bytes_[leaf] = size.bytes;
      }
    }
  }

  /// Calls f(value) for each stored value that an instruction reads, directly or through virtual values.
  template <class F>
  void each_read(const Frame& frame, const Instruction& i, F&& f) {
    pending_.assign(i.operands.begin(), i.operands.end());
    if (seen_.empty()) seen_.assign(static_cast<size_t>(module_.id_limit()), 0);
    ++stamp_;
    while (!pending_.empty()) {
      const Instruction* at = pending_.back();
      pending_.pop_back();
      if (seen_[at->id] == stamp_) continue;
      seen_[at->id] = stamp_;
      if (virtual_[at->id]) {
        pending_.insert(pending_.end(), at->operands.begin(), at->operands.end());
        continue;
      }
      for (int32_t l = 0; l < leaves_.count(*at); ++l) f(value(frame, *at, l));
    }
  }

  std::vector<Candidate> touch_all() {
    std::vector<Candidate> all;
    for (Step s = 0; s < static_cast<Step>(timeline_.steps.size()); ++s) {
      const Instruction& i = *timeline_.steps[s].instruction;
      if (passes_on(i.opcode) || virtual_[i.id]) continue;
      int64_t touched = 0;
      const Frame& frame = frame_of(s);
      each_read(frame, i, [&](int32_t v) { touched = add_bytes(touched, bytes_[v]); });
      for (int32_t l = 0; l < leaves_.count(i); ++l) touched = add_bytes(touched, bytes_[value(frame, i, l)]);
      // Values live around a loop's body aren't added here: the loop is a candidate itself.
      all.push_back({touched, s});
    }
    return all;
  }

  /// Adds the values that are live in any order while instruction `at` runs: computed by something that `at` needs, and
  /// read by something that needs `at`.
  void hold_around(const Frame& frame, const Instruction& at, LiveSet& live) {
    const auto& instructions = frame.computation->instructions();
    std::vector<bool> before(static_cast<size_t>(module_.id_limit()), false), after(before);
    std::vector<bool> made(0);
    before[at.id] = after[at.id] = true;
    for (auto it = instructions.rbegin(); it != instructions.rend(); ++it) {
      if (!before[(*it)->id]) continue;
      for (const Instruction* operand : (*it)->operands) before[operand->id] = true;
    }
    std::unordered_map<int32_t, bool> defined;
    for (const auto& i : instructions) {
      const bool given = i->opcode == Opcode::kParameter;
      if (i.get() == &at || virtual_[i->id] || !(given || before[i->id])) continue;
      for (int32_t l = 0; l < leaves_.count(*i); ++l) defined.emplace(value(frame, *i, l), true);
    }
    const auto hold = [&](int32_t v) {
      if (defined.contains(v)) live.add(v);
    };
    for (const auto& i : instructions) {
      const auto id = static_cast<size_t>(i->id);
      if (i.get() == &at) continue;
      after[id] = std::any_of(i->operands.begin(), i->operands.end(),
                              [&](const Instruction* operand) { return after[operand->id]; });
      if (after[id] && !virtual_[id] && !passes_on(i->opcode)) each_read(frame, *i, hold);
    }
    if (const Instruction* root = frame.computation->root; root && root != &at) {
      for (int32_t l = 0; l < leaves_.count(*root); ++l) hold(value(frame, *root, l));
    }
  }

  void consider(Step s, Floor& best) {
    const Instruction& i = *timeline_.steps[s].instruction;
    LiveSet live(buffer_of_, bytes_);
    hold_arguments(live);
    const Frame* frame = &frame_of(s);
    const Instruction* at = &i;
    while (true) {
      hold_around(*frame, *at, live);
      if (frame->parent < 0) break;
      at = frame->caller;
      frame = &timeline_.frames[frame->parent];
    }
    const Frame& mine = frame_of(s);
    LiveSet all = live;
    int64_t reusable = 0;
    each_read(mine, i, [&](int32_t v) {
      if (!all.has(v)) reusable = add_bytes(reusable, bytes_[v]);
      all.add(v);
    });
    LiveSet with_results = all;
    for (int32_t l = 0; l < leaves_.count(i); ++l) with_results.add(value(mine, i, l));
    const int64_t written = with_results.bytes() - all.bytes();
    const int64_t beyond = may_reuse(i) ? std::max<int64_t>(0, written - reusable) : written;
    const int64_t bytes = add_bytes(all.bytes(), beyond);
    if (bytes <= best.bytes) return;
    best.bytes = bytes;
    best.instruction = &i;
    best.reason = fmt::format("{} %{} needs {} beside {} of arguments and values read later", opcode_name(i.opcode),
                              i.name, format_bytes(bytes - live.bytes()), format_bytes(live.bytes()));
  }

  /// Adds arguments that aren't donated, which are live throughout.
  void hold_arguments(LiveSet& live) {
    for (const Instruction* p : module_.entry->parameters()) {
      if (!p) continue;
      for (int32_t l = 0; l < leaves_.count(*p); ++l) {
        if (!donation_.donated[leaves_.first(*p) + l]) live.add(value(timeline_.frames[0], *p, l));
      }
    }
  }

  const Module& module_;
  Leaves leaves_;
  std::vector<bool> virtual_;
  Partitioning sizes_;
  Donation donation_;
  Timeline timeline_;
  Values values_;
  std::vector<int64_t> bytes_;      ///< value -> bytes in main memory
  std::vector<int32_t> buffer_of_;  ///< value -> the value that identifies its buffer if tied values share one
  std::vector<const Instruction*> pending_;
  std::vector<int32_t> seen_;
  int32_t stamp_ = 0;
};

int64_t least_bytes(const Instruction& i, const Leaves& leaves, const Partitioning& sizes) {
  int64_t sum = 0;
  for (int32_t l = 0; l < leaves.count(i); ++l) {
    const LeafBytes one = sizes.least(i, l);
    if (one.memory_space == 0) sum = add_bytes(sum, one.bytes);
  }
  return sum;
}

}  // namespace

Floor floor_any(const Module& module) {
  Floor floor;
  if (!module.entry) return floor;
  const Leaves leaves(module);
  const Partitioning sizes = partitioning_of(module);
  int64_t arguments = 0, results = 0;
  for (const Instruction* p : module.entry->parameters()) {
    if (p) arguments = add_bytes(arguments, least_bytes(*p, leaves, sizes));
  }
  if (module.entry->root) results = least_bytes(*module.entry->root, leaves, sizes);
  const int64_t shared = std::min(results, find_donation(module, leaves, sizes, /*with_donors=*/true).alias_bytes());
  floor.bytes = add_bytes(arguments, results - shared);
  floor.reason = fmt::format(
      "arguments {} and results {}{}: every executor holds them", format_bytes(arguments), format_bytes(results),
      shared > 0 ? fmt::format(", {} of which live in donated arguments", format_bytes(shared)) : "");
  return floor;
}

Floor floor_order(const Module& module) {
  Floor any = floor_any(module);
  // Before partitioning, the operations aren't known yet.
  const Partitioning partitioning = partitioning_of(module);
  if (partitioning.divides() || partitioning.is_unsure()) return any;
  Floor best = FloorOfOrder(module).run();
  return best.bytes > any.bytes ? best : any;
}

}  // namespace lowtide::engine
