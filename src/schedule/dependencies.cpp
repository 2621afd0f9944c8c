#include "schedule/dependencies.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "ir/side_effects.h"
#include "schedule/access_history.h"
#include "schedule/implied_edges.h"

namespace lowtide::engine {
namespace {

constexpr int32_t kEffects = -1;  ///< a space of one byte, which everything with a side effect writes
/// Rotations of several lengths return to their start only after many iterations, at worst the product of the lengths.
/// If that takes more than so many, each step of the body waits for the one before it, whatever it touches; if rotating
/// loops are nested too deeply, all steps do.
constexpr int64_t kMostTrips = 64;
constexpr size_t kMostVisits = 1'000'000, kVisitsPerStep = 16;

using Block = std::vector<ProgramStep>;
using Homes = std::vector<int32_t>;  ///< by slot: the slot whose first address it has now

class FindDependencies {
 public:
  explicit FindDependencies(Program& program) : program_(program), homes_(program.slots.size()) {
    std::iota(homes_.begin(), homes_.end(), 0);
  }

  void run() {
    left_ = kMostVisits + kVisitsPerStep * count(program_.steps);
    (void)walk(program_.steps, false);
    for (auto& [block, waits] : waits_) {
      if (left_ == 0) wait_one_by_one(*block);
      remove_implied_edges(waits);
      for (size_t s = 0; s < waits.size(); ++s) (*block)[s].after = std::move(waits[s]);
    }
  }

 private:
  using Waits = std::vector<std::vector<int32_t>>;

  static size_t count(const Block& block) {
    size_t steps = block.size();
    for (const ProgramStep& step : block) {
      for (const Block& inner : step.blocks) steps += count(inner);
    }
    return steps;
  }

  /// What the block touches when it runs once with the current addresses; nothing if not asked for.
  std::vector<ByteAccess> walk(Block& block, bool asked = true) {
    Waits& waits = waits_.try_emplace(&block, block.size()).first->second;  // the reference stays valid
    AccessHistory history;
    std::vector<ByteAccess> all;
    for (size_t s = 0; s < block.size() && left_ > 0; ++s, --left_) {
      std::vector<ByteAccess> touched = touches(block[s]);  // reads first
      if (!block[s].blocks.empty()) touched = united(std::move(touched));
      for (const ByteAccess& access : touched) history.touch(access, static_cast<int32_t>(s), waits[s]);
      std::ranges::sort(waits[s]);
      waits[s].erase(std::unique(waits[s].begin(), waits[s].end()), waits[s].end());
      if (asked) all.insert(all.end(), touched.begin(), touched.end());
    }
    return united(std::move(all));
  }

  std::vector<ByteAccess> touches(ProgramStep& step) {
    std::vector<ByteAccess> out;
    if (step.kind == StepKind::kRotate) {
      const Homes before = homes_;
      for (size_t i = 0; i < step.to.size(); ++i) home(step.to[i]) = before[step.from[i]];
      return out;
    }
    if (step.assembled) return out;
    out.reserve(step.reads.size() + step.writes.size() + 2);
    for (const int32_t slot : step.reads) add(out, slot, false);
    if (step.predicate != kNoId) add(out, step.predicate, false);
    for (const int32_t slot : step.writes) add(out, slot, true);
    if (step.scratch != kNoId) add(out, step.scratch, true);
    const bool calls = step.kind == StepKind::kLibrary || step.kind == StepKind::kOther;
    if (calls && has_side_effect(*step.instruction)) out.push_back({kEffects, 0, 1, true});
    if (step.kind == StepKind::kWhile) add(out, loop(step));
    if (step.kind == StepKind::kConditional) {
      for (Block& branch : step.blocks) add(out, walk(branch));
    }
    return out;
  }

  /// All iterations, and the bytes that move back after them.
  std::vector<ByteAccess> loop(ProgramStep& step) {
    std::vector<ByteAccess> out;
    const Homes first = homes_;
    const bool counted = step.trip_count != kNoId;
    int64_t trips = 0;
    for (; !counted || trips < step.trip_count; ++trips) {
      if (trips > 0 && homes_ == first) break;  // the addresses have recurred
      if (trips == kMostTrips) {
        for (Block& block : step.blocks) wait_one_by_one(block);
        for (const int32_t slot : step.settle) out.push_back(access(slot, first[slot], true));
        homes_ = first;
        return out;
      }
      if (!counted) {
        add(out, walk(step.blocks[0]));
        add(out, step.predicate, false);
        settle(step, first, out);
      }
      add(out, walk(step.blocks[1]));
    }
    if (counted) {
      // The state after the last iteration, not after those that were examined.
      for (int64_t k = trips == 0 ? 0 : (step.trip_count - trips) % trips; k > 0; --k) {
        for (ProgramStep& inner : step.blocks[1]) {
          if (inner.kind == StepKind::kRotate) (void)touches(inner);
        }
      }
      settle(step, first, out);
    }
    homes_ = first;
    return out;
  }

  void settle(const ProgramStep& loop, const Homes& first, std::vector<ByteAccess>& out) {
    for (const int32_t slot : loop.settle) {
      const int32_t goes_to = first[slot];
      if (home(slot) == goes_to) continue;
      add(out, slot, false);
      out.push_back(access(slot, goes_to, true));
    }
  }

  void wait_one_by_one(Block& block) {
    Waits& waits = waits_.try_emplace(&block, block.size()).first->second;
    for (size_t s = 1; s < waits.size(); ++s) waits[s] = {static_cast<int32_t>(s) - 1};
  }

  static void add(std::vector<ByteAccess>& all, const std::vector<ByteAccess>& more) {
    all.insert(all.end(), more.begin(), more.end());
  }
  void add(std::vector<ByteAccess>& all, int32_t slot, bool writes) { all.push_back(access(slot, home(slot), writes)); }
  int32_t& home(int32_t slot) { return homes_[slot]; }

  /// The bytes of `slot` when it has the first address of slot `home`.
  ByteAccess access(int32_t slot, int32_t home, bool writes) const {
    const Slot& there = program_.slots[home];
    const Storage& storage = program_.storages[there.storage];
    const int64_t begin = there.offset + (storage.is_in_arena() ? storage.offset : 0);
    return {storage.space(there.storage), begin, begin + program_.slots[slot].bytes, writes};
  }

  Program& program_;
  Homes homes_;
  size_t left_ = 0;                          ///< visits of steps left; at 0 the search is abandoned
  std::unordered_map<Block*, Waits> waits_;  ///< over all iterations and paths; sorted
};

}  // namespace

void find_dependencies(Program& program) { FindDependencies(program).run(); }

}  // namespace lowtide::engine
