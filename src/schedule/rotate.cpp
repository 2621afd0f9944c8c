#include "schedule/rotate.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace lowtide::engine {

LoopMoves plan_loop_moves(const Flow& flow, Step next, const Classes& classes, const LiveRanges& live) {
  LoopMoves out;
  std::unordered_map<int32_t, int32_t> taken_by;  // class -> the class that takes over its address
  std::vector<int32_t> givers, takers;
  std::unordered_set<int32_t> staying;  // carries computed in their own bytes keep their address
  for (const Move& m : flow.steps[next].moves) {
    const int32_t to = classes.of[m.to];
    if (classes.of[m.from] == to) staying.insert(to);
  }
  for (const Move& m : flow.steps[next].moves) {
    const int32_t from = classes.of[m.from], to = classes.of[m.to];
    const ValueClass &giver = classes.all[from], &taker = classes.all[to];
    if (from == to || giver.bytes == 0) continue;
    const bool fixed = giver.constant || (giver.argument != kNoId && !giver.donated);
    const LivePieces& pieces = live.of[m.from];
    const bool needed_later = std::any_of(
        pieces.begin(), pieces.end(), [&](const Lifetime& life) { return life.born <= next && next + 1 < life.dies; });
    if (fixed || needed_later || staying.contains(from) || giver.bytes != taker.bytes || taken_by.contains(from)) {
      out.copies.push_back(m);
      continue;
    }
    taken_by.emplace(from, to);
    givers.push_back(from);
    takers.push_back(to);
  }
  // A chain new value -> carry -> carry ... is closed: the new value gets the address that the last carry gave up.
  std::unordered_map<int32_t, int32_t> source_of;
  for (size_t i = 0; i < givers.size(); ++i) source_of.emplace(takers[i], givers[i]);
  for (size_t i = 0; i < givers.size(); ++i) {
    out.to.push_back(takers[i]);
    out.from.push_back(givers[i]);
  }
  for (const int32_t giver : givers) {
    if (source_of.contains(giver)) continue;  // it is a carry too
    int32_t last = giver;
    for (auto step = taken_by.find(last); step != taken_by.end(); step = taken_by.find(last)) last = step->second;
    out.to.push_back(giver);
    out.from.push_back(last);
  }
  return out;
}

}  // namespace lowtide::engine
