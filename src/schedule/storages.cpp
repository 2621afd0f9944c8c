#include "schedule/storages.h"

#include <algorithm>

#include "plan/pack.h"
#include "schedule/assemble.h"

namespace lowtide::engine {
namespace {

constexpr Bytes kAlignment = 64;

/// Classes that exchange addresses hold each other's bytes throughout their loop.
std::vector<LivePieces> find_alive(const Flow& flow, const Classes& classes, const LiveRanges& live,
                                   const LoopMovesOf& loop_moves) {
  std::vector<LivePieces> alive(classes.all.size());
  for (size_t c = 0; c < classes.all.size(); ++c) {
    for (const ValueId v : classes.all[c].values) {
      const LivePieces& pieces = live.of[v];
      alive[c].insert(alive[c].end(), pieces.begin(), pieces.end());
    }
    if (classes.all[c].constant && !alive[c].empty()) alive[c].push_back({0, 1});
  }
  for (const auto& [next, moves] : loop_moves) {
    const FlowFrame& loop = flow.frames[flow.steps[next].frame];
    for (const int32_t c : moves.to) alive[c].push_back({loop.begin, loop.end + 1});
  }
  for (size_t c = 0; c < alive.size(); ++c) {
    alive[c] = united(std::move(alive[c]));
    if (classes.all[c].constant && !alive[c].empty()) alive[c] = {{0, alive[c].back().dies}};
  }
  return alive;
}

Storage describe(const ValueClass& c, const Flow& flow, const ValueTable& values, const LiveRanges& live,
                 const LivePieces& alive) {
  Storage s;
  s.bytes = c.bytes;
  s.kind = c.argument != kNoId ? StorageKind::kArgument
           : c.output != kNoId ? StorageKind::kOutput
           : c.constant        ? StorageKind::kConstant
                               : StorageKind::kTemporary;
  s.number = c.argument != kNoId ? c.argument : c.output;
  s.donated = c.donated;
  s.holds_output = c.output != kNoId;
  s.in_host = c.in_host;
  if (!alive.empty()) s.born = alive.front().born, s.dies = alive.back().dies;
  std::vector<ValueId> order = c.values;
  const auto born = [&](ValueId v) {
    const LivePieces& pieces = live.of[v];
    return pieces.empty() ? 0 : pieces.front().born;
  };
  std::stable_sort(order.begin(), order.end(), [&](ValueId a, ValueId b) { return born(a) < born(b); });
  Step last = -1;
  for (const ValueId v : order) {
    const LeafRef& ref = values.ref(v);
    if (std::find(flow.outputs.begin(), flow.outputs.end(), v) == flow.outputs.end() || order.size() == 1) {
      s.values.push_back(resolve(ref));
    }
    const LivePieces& pieces = live.of[v];
    if (!pieces.empty() && pieces.back().dies > last) {
      last = pieces.back().dies;
      s.last_reader = live.last_reader[v];
    }
  }
  if (c.constant) s.constant = values.ref(c.values[0]).instruction->as<ConstantAttributes>().value;
  return s;
}

}  // namespace

Placed place(const Flow& flow, const ValueTable& values, const Classes& classes, const LiveRanges& live,
             const LoopMovesOf& loop_moves, NestCache& nests, const Packings& packings, InPlaceWays ways,
             Bytes useless) {
  Placed out;
  out.alive = find_alive(flow, classes, live, loop_moves);
  out.live.assign(flow.steps.size() + 1, 0);
  Problem problem, in_host;
  problem.alignment = in_host.alignment = kAlignment;
  std::vector<size_t> packed, packed_in_host;
  out.hosting = Hosting(classes.all.size());
  if (ways != InPlaceWays::kNone) {
    out.hosting = assemble(flow, classes, loop_moves, nests, out.alive);
    find_hosts(classes, out.alive, static_cast<Step>(flow.steps.size()), out.hosting);
  }
  const Hosting& hosting = out.hosting;
  std::vector<int32_t> storage_of(classes.all.size(), kNoId);
  for (size_t c = 0; c < classes.all.size(); ++c) {
    const ValueClass& k = classes.all[c];
    if (hosting.host[c] != kNoId) continue;
    storage_of[c] = static_cast<int32_t>(out.storages.size());
    out.storages.push_back(describe(k, flow, values, live, out.alive[c]));
    if (k.argument == kNoId && k.output == kNoId && out.alive[c].empty()) out.storages.back().bytes = 0;  // never live
    if (k.argument != kNoId || k.output != kNoId || k.bytes == 0 || out.alive[c].empty()) continue;
    if (k.in_host) {
      packed_in_host.push_back(out.storages.size() - 1);
      in_host.buffers.push_back({k.bytes, out.alive[c]});
      continue;
    }
    packed.push_back(out.storages.size() - 1);
    problem.buffers.push_back({k.bytes, out.alive[c]});
    for (const Lifetime& life : out.alive[c]) {
      out.live[life.born] += k.bytes;
      out.live[life.dies] -= k.bytes;
    }
  }
  for (size_t c = 0; c < classes.all.size(); ++c) {
    int32_t host = hosting.host[c];
    int64_t offset = hosting.offset[c];
    // The host may itself have moved out of the arena.
    while (host != kNoId && hosting.host[host] != kNoId) {
      offset += hosting.offset[host];
      host = hosting.host[host];
    }
    if (host == kNoId) {
      const int64_t held = out.storages[storage_of[c]].bytes;
      out.slots.push_back({storage_of[c], 0, std::min(held, classes.all[c].bytes)});
      continue;
    }
    out.slots.push_back({storage_of[host], offset, classes.all[c].bytes});
    const Storage guest = describe(classes.all[c], flow, values, live, out.alive[c]);
    std::vector<LeafRef>& names = out.storages[storage_of[host]].values;
    names.insert(names.end(), guest.values.begin(), guest.values.end());
  }
  for (size_t s = 1; s < out.live.size(); ++s) out.live[s] += out.live[s - 1];
  out.live.pop_back();
  const Bytes bound = packing_bound(problem);
  if (bound >= useless) {
    out.packing.placement.height = bound;
    return out;
  }
  // Memory comes in pages: saving less than one is useless. Nor is a long search worth it if there is little to save.
  constexpr Bytes kPage = 4096;
  constexpr int64_t kWork = 10'000'000;
  // Of thousands of buffers one order takes all of that, and orders differ by a third; none is best for all programs.
  constexpr size_t kLeastOrders = 3;
  out.packing = packings.pack(problem, {.capacity = (bound + kPage - 1) / kPage * kPage,
                                        .work = kWork,
                                        .work_per_byte = kWorkPerByte,
                                        .least_orders = kLeastOrders});
  for (size_t b = 0; b < packed.size(); ++b) out.storages[packed[b]].offset = out.packing.placement.offsets[b];
  out.load_bytes = load_of(problem);
  if (packed_in_host.empty()) return out;
  const KnownPlacement there = packings.pack(in_host, {});
  for (size_t b = 0; b < packed_in_host.size(); ++b) {
    out.storages[packed_in_host[b]].offset = there.placement.offsets[b];
  }
  out.host_temp_bytes = there.placement.height;
  return out;
}

}  // namespace lowtide::engine
