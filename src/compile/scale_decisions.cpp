#include "compile/scale_decisions.h"

#include <fmt/format.h>

#include <algorithm>

#include "compile/plan_rows.h"
#include "passes/canonicalise/remove_dead_code.h"
#include "passes/recompute/offload.h"
#include "passes/recompute/recompute.h"
#include "passes/recompute/save_every.h"
#include "passes/rules/hoist_loop_invariants.h"
#include "passes/rules/update_where_it_is_made.h"
#include "passes/stream/stream_alike.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kSeveral = 4;   ///< so many tiles are enough
constexpr size_t kMostTried = 6;  ///< tiles of one stream

/// The value that is streamed; null if there is none of this name.
const Instruction* seed_of(const Module& module, const StreamDecision& d) {
  const Computation* computation = module.find_computation(d.computation);
  return computation == nullptr ? nullptr : value_named(*computation, d.seed);
}

/// The extent of the dimension that is streamed; 0 if there is no such value.
int64_t extent_of(const Module& module, const StreamDecision& d) {
  const Instruction* seed = seed_of(module, d);
  if (seed == nullptr || !seed->shape.is_array() || d.dimension >= seed->shape.rank()) return 0;
  return seed->shape.dims[d.dimension];
}

std::string_view stem_of(std::string_view name) { return name.substr(0, name.find('.')); }

bool are_alike(const Instruction& a, const Instruction& b) {
  return a.opcode == b.opcode && a.shape.type == b.shape.type && a.shape.rank() == b.shape.rank() &&
         a.metadata.op_name == b.metadata.op_name && stem_of(a.name) == stem_of(b.name);
}

/// The same decision on the first value that is like the one given, in a body that streams made: their names have other
/// numbers where another stream was made with more or fewer values.
StreamDecision on_value_like(const StreamDecision& given, const Module& large, const Module& small) {
  const Instruction* seed = seed_of(large, given);
  if (seed == nullptr || extent_of(small, given) > 0) return given;
  for (const auto& computation : small.computations()) {
    if (stem_of(computation->name) != stem_of(given.computation)) continue;
    for (const auto& i : computation->instructions()) {
      if (!are_alike(*i, *seed)) continue;
      StreamDecision like = given;
      like.computation = computation->name;
      like.seed = i->name;
      return like;
    }
  }
  return given;
}

int64_t parts_of(int64_t extent, int64_t tile) { return (extent + tile - 1) / tile; }

/// Tile sizes for the other extent, the most similar first.
std::vector<int64_t> tiles_like(int64_t extent, int64_t tile, int64_t other) {
  if (extent == other) return {tile};
  std::vector<int64_t> tiles;
  for (int64_t t = 1; t < other; ++t) tiles.push_back(t);
  const int64_t parts = std::min(parts_of(extent, tile), kSeveral);
  const auto unlike = [&](int64_t t) {
    const bool tail = (extent % tile != 0) != (other % t != 0);
    const bool single = (tile == 1) != (t == 1);
    return 1000 * (tail ? 1 : 0) + 500 * (single ? 1 : 0) + std::abs(parts_of(other, t) - parts);
  };
  std::ranges::sort(tiles, {}, [&](int64_t t) { return std::pair(unlike(t), t); });
  if (tiles.size() > kMostTried) tiles.resize(kMostTried);
  return tiles;
}

/// The small module with the stream in tiles of `tile`; null if that isn't possible.
std::shared_ptr<Module> streamed(const Module& small, const Module& large, const Target& target,
                                 const StreamDecision& given, int64_t tile) {
  const auto show = [&](const Status& status) {
    if (!small.context().shows(DebugLevel::kSchedule, "fit")) return;
    small.context().print(
        fmt::format("fit: {} in tiles of {}: {}", to_text(given), tile, status.ok() ? "made" : status.message()));
  };
  if (!given.windows) {
    std::shared_ptr<Module> next = small.clone();
    const auto alike = stream_alike(*next, large, target, given, tile);
    show(alike.status());
    if (alike.ok()) return next;
  }
  std::shared_ptr<Module> next = small.clone();
  StreamDecision d = given;
  d.tile = tile;
  const auto found = stream(*next, target, d);
  show(found.status());
  return found.ok() ? next : nullptr;
}

/// A grouping of all iterations or of some, like the given one if the small module has both kinds.
std::optional<Grouping> grouping_like(const Grouping& given, const Module& small) {
  std::optional<Grouping> best;
  for (const Grouping& g : groupings(small)) {
    if (!best || (g.of > 0) == (given.of > 0)) best = g;
  }
  return best;
}

}  // namespace

Result<std::vector<ScaledDecision>> scale_decisions(const Planner& from, const Planner& to,
                                                    const Decisions& decisions) {
  const std::unique_ptr<Module> large = from.shared().clone();
  std::shared_ptr<const Module> small = to.shared().clone();
  std::vector<ScaledDecision> scaled;
  for (const Decision& decision : decisions) {
    const bool hoists = std::holds_alternative<HoistLoopInvariants>(decision);
    if (hoists || std::holds_alternative<UpdateInLoops>(decision)) {
      const auto pass = hoists ? hoist_loop_invariants : update_where_it_is_made;
      std::shared_ptr<Module> changed = small->clone();
      LT_RETURN_IF_ERROR(pass(*large, from.target()).status());
      LT_ASSIGN_OR_RETURN(const PassResult alike, pass(*changed, to.target()));
      for (Module* module : {large.get(), changed.get()}) LT_RETURN_IF_ERROR(remove_dead_code(*module).status());
      scaled.push_back({decision, alike.changed, changed});
      small = changed;
      continue;
    }
    if (const auto* again = std::get_if<Recompute>(&decision)) {
      std::shared_ptr<Module> alike = small->clone();
      Recomputed done;
      for (Module* module : {large.get(), alike.get()}) LT_RETURN_IF_ERROR(remove_dead_code(*module).status());
      LT_RETURN_IF_ERROR(recompute(*large, from.target(), again->price, &done).status());
      LT_RETURN_IF_ERROR(remove_dead_code(*large).status());
      const bool applies = recompute_alike(*alike, to.target(), done);
      LT_RETURN_IF_ERROR(remove_dead_code(*alike).status());
      if (applies) small = alike;
      scaled.push_back({decision, applies, small});
      continue;
    }
    if (const auto* every = std::get_if<SaveEvery>(&decision)) {
      LT_RETURN_IF_ERROR(save_every(*large, every->grouping).status());
      LT_RETURN_IF_ERROR(remove_dead_code(*large).status());
      const auto alike = grouping_like(every->grouping, *small);
      if (!alike) {
        scaled.push_back({decision, false, small});
        continue;
      }
      std::shared_ptr<Module> grouped = small->clone();
      LT_RETURN_IF_ERROR(save_every(*grouped, *alike).status());
      LT_RETURN_IF_ERROR(remove_dead_code(*grouped).status());
      small = grouped;
      scaled.push_back({SaveEvery{*alike}, true, small});
      continue;
    }
    if (const auto* offloaded = std::get_if<Offload>(&decision)) {
      std::shared_ptr<Module> alike = small->clone();
      std::vector<Offloaded> done;
      LT_RETURN_IF_ERROR(offload(*large, offloaded->count, &done).status());
      LT_ASSIGN_OR_RETURN(const PassResult moved, offload_alike(*alike, done));
      for (Module* module : {large.get(), alike.get()}) LT_RETURN_IF_ERROR(remove_dead_code(*module).status());
      scaled.push_back({decision, moved.changed, alike});
      small = alike;
      continue;
    }
    scaled.push_back({decision, true, small});
    const auto* given = std::get_if<StreamDecision>(&decision);
    if (given == nullptr) continue;
    scaled.back().applies = false;
    const StreamDecision like = on_value_like(*given, *large, *small);
    const int64_t extent = extent_of(*large, *given), other = extent_of(*small, like);
    const std::vector<int64_t> tiles =
        extent > 0 && other > 0 ? tiles_like(extent, given->tile, other) : std::vector<int64_t>();
    for (const int64_t tile : tiles) {
      const auto next = streamed(*small, *large, to.target(), like, tile);
      if (next == nullptr) continue;
      StreamDecision d = like;
      d.tile = tile;
      small = next;
      scaled.back() = {d, true, small};
      break;
    }
    LT_RETURN_IF_ERROR(stream(*large, from.target(), *given).status());
  }
  return scaled;
}

}  // namespace lowtide::engine
