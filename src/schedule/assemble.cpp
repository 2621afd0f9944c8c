#include "schedule/assemble.h"

#include <algorithm>

namespace lowtide::engine {
namespace {

/// Are both live at a step other than this one?
bool meet_besides(const LivePieces& a, const LivePieces& b, Step step) {
  size_t first = 0;
  for (const Lifetime& life : a) {
    while (first < b.size() && b[first].dies <= life.born) ++first;
    for (size_t i = first; i < b.size() && b[i].born < life.dies; ++i) {
      const Step begin = std::max(life.born, b[i].born), end = std::min(life.dies, b[i].dies);
      if (begin < end && (begin != step || end != step + 1)) return true;
    }
  }
  return false;
}

/// The parts of `a` that aren't in `b`.
LivePieces without(const LivePieces& a, const LivePieces& b) {
  LivePieces out;
  for (const Lifetime& life : a) {
    Step from = life.born;
    for (const Lifetime& other : b) {
      if (other.dies <= from || other.born >= life.dies) continue;
      if (other.born > from) out.push_back({from, other.born});
      from = std::max(from, other.dies);
    }
    if (from < life.dies) out.push_back({from, life.dies});
  }
  return out;
}

class Assemble {
 public:
  Assemble(const Flow& flow, const Classes& classes, const LoopMovesOf& loop_moves, NestCache& nests,
           std::vector<LivePieces>& alive)
      : flow_(flow), classes_(classes), nests_(nests), alive_(alive), rotates_(classes.all.size(), false) {
    for (const auto& [next, moves] : loop_moves) {
      for (const int32_t c : moves.to) rotates_[c] = true;
    }
    const size_t count = classes.all.size();
    out_ = Hosting(count);
    guests_.resize(count);
    asked_.assign(count, kNoId);
    load_.assign(flow.steps.size() + 1, 0);
    for (size_t c = 0; c < count; ++c) {
      if (in_arena(static_cast<int32_t>(c))) add(load_, 0, alive[c], classes.all[c].bytes);
    }
  }

  Hosting run() {
    for (size_t s = 0; s < flow_.steps.size(); ++s) {
      const FlowStep& step = flow_.steps[s];
      if (!step.work || step.work->kind != WorkKind::kRegion || step.way) continue;
      for (size_t o = 0; o < step.writes.size(); ++o) {
        const std::vector<Part>& parts = nests_.assembly(*step.work, static_cast<int32_t>(o));
        if (!parts.empty()) settle(static_cast<Step>(s), class_of(step.writes[o]), parts);
      }
    }
    return std::move(out_);
  }

 private:
  struct Guest {
    int32_t id = kNoId;
    int64_t begin = 0, end = 0;
    Step step = 0;
  };

  int32_t class_of(ValueId v) const { return classes_.of[v]; }
  const ValueClass& at(int32_t c) const { return classes_.all[c]; }
  const LivePieces& alive(int32_t c) const { return alive_[c]; }
  bool in_arena(int32_t c) const { return at(c).argument == kNoId && at(c).output == kNoId && !at(c).in_host; }
  bool is_guest(int32_t c) const { return out_.host[c] != kNoId; }
  bool moves(int32_t c) const { return rotates_[c]; }

  void settle(Step step, int32_t host, const std::vector<Part>& parts) {
    const ValueClass& memory = at(host);
    const bool is_given = memory.constant || (memory.argument != kNoId && !memory.donated);
    if (is_given || memory.in_host || is_guest(host) || moves(host)) return;
    std::vector<Guest> come;
    for (const Part& part : parts) {
      const int32_t c = class_of(flow_.steps[step].reads[part.input]);
      const Guest guest{c, part.offset, part.offset + part.bytes, step};
      if (asked_[c] == step || !may_come(guest, host)) continue;
      asked_[c] = step;
      come.push_back(guest);
    }
    if (come.empty() || !is_no_dearer(host, come)) return;
    for (const Guest& guest : come) {
      out_.host[guest.id] = host;
      out_.offset[guest.id] = guest.begin;
      out_.part[guest.id] = true;
      guests_[host].push_back(guest);
    }
  }

  /// Adds bytes to `load`, which begins at step `first`, while these pieces are live.
  static void add(std::vector<int64_t>& load, Step first, const LivePieces& pieces, int64_t bytes) {
    for (const Lifetime& life : pieces) {
      for (Step s = life.born; s < life.dies; ++s) load[s - first] += bytes;
    }
  }

  /// Does the arena's load not grow while the guests are live? If so, the move is recorded.
  bool is_no_dearer(int32_t host, const std::vector<Guest>& come) {
    LivePieces longer;
    for (const Guest& guest : come) longer.insert(longer.end(), alive(guest.id).begin(), alive(guest.id).end());
    longer = united(std::move(longer));
    const Step first = longer.front().born, end = longer.back().dies;
    std::vector<int64_t> now(load_.begin() + first, load_.begin() + end);
    const int64_t before = std::ranges::max(now);
    for (const Guest& guest : come) add(now, first, alive(guest.id), -at(guest.id).bytes);
    if (in_arena(host)) {
      add(now, first, without(longer, alive(host)), at(host).bytes);
      if (std::ranges::max(now) > before) return false;
      longer.insert(longer.end(), alive(host).begin(), alive(host).end());
      alive_[host] = united(std::move(longer));
    }
    std::ranges::copy(now, load_.begin() + first);
    return true;
  }

  bool may_come(const Guest& guest, int32_t host) const {
    const int32_t c = guest.id;
    const ValueClass& k = at(c);
    if (c == host || !in_arena(c) || k.constant || is_guest(c) || moves(c) || !guests_[c].empty()) return false;
    if (k.bytes == 0 || k.bytes != guest.end - guest.begin) return false;
    if (meet_besides(alive(c), alive(host), guest.step)) return false;
    // Parts of one step lie next to each other.
    return std::ranges::none_of(guests_[host], [&](const Guest& other) {
      return other.step != guest.step && other.begin < guest.end && guest.begin < other.end &&
             meet_besides(alive(c), alive(other.id), -1);
    });
  }

  const Flow& flow_;
  const Classes& classes_;
  NestCache& nests_;
  std::vector<LivePieces>& alive_;
  std::vector<bool> rotates_;
  std::vector<std::vector<Guest>> guests_;  ///< by host
  std::vector<Step> asked_;                 ///< by class: the last step that takes it as a part
  std::vector<int64_t> load_;               ///< arena bytes by step
  Hosting out_;
};

}  // namespace

Hosting assemble(const Flow& flow, const Classes& classes, const LoopMovesOf& loop_moves, NestCache& nests,
                 std::vector<LivePieces>& alive) {
  return Assemble(flow, classes, loop_moves, nests, alive).run();
}

bool is_assembled(const FlowStep& step, const Classes& classes, const Hosting& hosting, NestCache& nests) {
  const auto class_of = [&](ValueId v) { return static_cast<size_t>(classes.of[v]); };
  if (step.way) return false;
  for (size_t o = 0; o < step.writes.size(); ++o) {
    const std::vector<Part>& parts = nests.assembly(*step.work, static_cast<int32_t>(o));
    if (!is_complete(step.work->region, o, parts)) return false;
    for (const Part& part : parts) {
      const size_t c = class_of(step.reads[part.input]);
      const bool there = hosting.part[c] && hosting.host[c] == static_cast<int32_t>(class_of(step.writes[o])) &&
                         hosting.offset[c] == part.offset;
      if (!there && part.bytes > 0) return false;
    }
  }
  return true;
}

}  // namespace lowtide::engine
