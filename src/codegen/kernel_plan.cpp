#include "codegen/kernel_plan.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "codegen/lane_cost.h"
#include "codegen/lanes_after.h"
#include "codegen/ordered.h"
#include "codegen/pieces.h"
#include "codegen/tiling.h"

namespace lowtide::engine {
namespace {

class Planner {
 public:
  Planner(const Nest& nest, bool avx512, KernelPlan& plan)
      : nest_(nest), avx512_(avx512), cost_(nest, avx512), plan_(plan) {}

  /// Chooses the loop's best form, notes it in the plan, and returns the cycles of one execution.
  double decide(int32_t id) {
    const Loop& loop = nest_.loops[id];
    constexpr double kIteration = 1;
    double iteration = kIteration;
    for (const int32_t block : {loop.head, loop.body}) {
      if (block != kNoId) iteration += decide_block(block);
    }
    const double serial = iteration * static_cast<double>(cost_.trips(loop));
    if (loop.one_by_one) return serial;
    const auto [width, spread] = loop.kind == LoopKind::kSequential ? ordered(id) : best_width(id);
    const bool spreads = width != 0 && spread < serial;
    if (const double tiled = tiled_cycles(id); tiled > 0 && tiled < (spreads ? spread : serial)) {
      forget_inside(id);
      plan_.tiled[id] = true;
      return tiled;
    }
    const double otherwise = spreads ? spread : serial;
    if (const auto [lanes, cycles] = after_reductions(id, serial); lanes != 0 && cycles < otherwise) {
      plan_.after[id] = lanes;
      return cycles;
    }
    if (!spreads) return serial;
    forget_inside(id);
    plan_.lanes[id] = width;
    constexpr size_t kLongBody = 60;  // there, masks cost little, but duplicated code costs much
    plan_.masked[id] = avx512_ && loop.carried.empty() && items_in(loop.body) > kLongBody;
    return spread;
  }

  double decide_block(int32_t block) {
    double cycles = cost_.scalar_items(block);
    for (const Item& item : nest_.blocks[block].items) {
      if (item.kind == Item::kLoop) cycles += decide(item.id);
    }
    return cycles;
  }

 private:
  struct Choice {
    int32_t width = 0;
    double cycles = 0;
  };

  Choice ordered(int32_t id) const {
    const Loop& loop = nest_.loops[id];
    const OrderedLoop parts = take_apart(nest_, id);
    const int32_t width = avx512_ ? 16 : 8;
    constexpr size_t kMostBehind = 40;  // emitted once for each lane
    constexpr double kLeastAhead = 3;   // cycles per iteration; for fewer, extracting single lanes doesn't pay
    if (!parts.splits() || parts.behind.size() > kMostBehind || loop.extent < 2 * width) return {};
    const double ahead = cost_.scalar_items(parts.ahead, loop.body),
                 behind = cost_.scalar_items(parts.behind, loop.body);
    double inner = 0;
    for (const Item& item : parts.ahead) {
      if (item.kind == Item::kLoop) inner += inner_cycles(item.id);
    }
    if (ahead + inner < kLeastAhead) return {};
    const double lane = (ahead + inner) / (width / 4.0) + behind + static_cast<double>(parts.kept.size());
    return {width, lane * static_cast<double>(loop.extent)};
  }

  /// serial: the cycles with all of the body row by row.
  Choice after_reductions(int32_t id, double serial) const {
    const Loop& loop = nest_.loops[id];
    const int32_t width = avx512_ ? 16 : 8;
    if (loop.extent < 2 * width) return {};
    const LanesAfter parts = split_after_reductions(nest_, id);
    if (!parts.splits()) return {};
    constexpr double kKept = 3;  // cycles to store a result, and to read it in lanes
    const std::span<const Item> items = nest_.blocks[loop.body].items;
    const double tail = cost_.scalar_items(items.subspan(parts.rows.size()), loop.body);
    const double lane = tail / (width / 4.0) + kKept * static_cast<double>(parts.results.size());
    return {width, serial - (tail - lane) * static_cast<double>(loop.extent)};
  }

  double inner_cycles(int32_t id) const {
    const Loop& loop = nest_.loops[id];
    double once = 1;
    for (const int32_t block : {loop.head, loop.body}) {
      if (block == kNoId) continue;
      once += cost_.scalar_items(block);
      for (const Item& item : nest_.blocks[block].items) {
        if (item.kind == Item::kLoop) once += inner_cycles(item.id);
      }
    }
    return once * static_cast<double>(cost_.trips(loop));
  }

  Choice best_width(int32_t id) const {
    const Loop& loop = nest_.loops[id];
    const bool merges = loop.combine && !loop.carried.empty() && loop.neutral.size() == loop.carried.size();
    if (loop.kind != LoopKind::kParallel && !(loop.kind == LoopKind::kReduce && merges)) return {};
    const std::vector<bool> varying = varying_nodes(nest_, id);
    const EqualLanes equal = equal_lanes(nest_, id, varying);
    const int32_t least = avx512_ ? 16 : 8;
    const double vector_registers = avx512_ ? 40 : 18;  // a few more than exist: estimates are high
    Spread spread{id, least, &varying, nullptr, &equal};
    const double live = cost_.live_values(spread);
    const bool slow = cost_.has_slow_lanes(spread);
    // Leftover iterations run inner loops without lanes, too: vectorising this loop discards theirs.
    const double alone = avx512_ ? 0 : inner_cycles(id) / static_cast<double>(std::max<int64_t>(1, cost_.trips(loop)));
    Choice best;
    for (int32_t width = least; width <= most_lanes(id) && (!slow || width <= 16); width *= 2) {
      if (width > least && live * width / least > vector_registers) break;
      spread.width = width;
      // Whole steps, then the rest in one masked step (AVX-512) or one by one.
      const int64_t whole = loop.extent / width;
      const auto steps = static_cast<double>(whole);
      const auto rest = static_cast<double>(loop.extent % width);
      constexpr double kStep = 4;  // cycles of loop control and of poor overlap between steps
      const double step = cost_.lane_block(loop.body, spread) + kStep;
      double cycles = steps * step + cost_.merge(spread);
      if (rest > 0) cycles += avx512_ ? step * 1.1 : rest * alone;
      const double gain = has_loop(loop.body) ? 1.02 : 1;  // long parts of rows are read faster
      if (best.width == 0 || cycles < best.cycles * gain) best = {width, cycles};
    }
    return best;
  }

  double tiled_cycles(int32_t id) const {
    const Tiling tiling = find_tiling(nest_, id, avx512_);
    if (!tiling.is_some()) return 0;
    const int32_t lanes = tiling.chain.back();
    const std::vector<bool> varying = varying_nodes(nest_, lanes);
    const Spread spread{lanes, tiling.side, &varying, &tiling.loads};
    double iterations = 1;
    for (const int32_t loop : tiling.chain) iterations *= static_cast<double>(nest_.loops[loop].extent);
    const auto extent = static_cast<double>(nest_.loops[lanes].extent);
    const double steps = iterations / extent * std::ceil(extent / tiling.side);
    double once = cost_.lane_block(nest_.loops[lanes].body, spread) + 2;
    for (const int32_t loop : tiling.chain) {
      if (loop != lanes) once += cost_.scalar_items(nest_.loops[loop].body);
    }
    return steps * once;
  }

  // Wide enough to overlap latencies; short bodies overlap between iterations anyway. If an inner loop moves from row
  // to row, wide steps fetch longer parts of each row.
  int32_t most_lanes(int32_t id) const {
    const int32_t least = avx512_ ? 16 : 8;
    const int32_t body = nest_.loops[id].body;
    return least * (items_in(body) < 12 && !has_loop(body) ? 4 : 8);
  }

  bool has_loop(int32_t block) const {
    const auto& items = nest_.blocks[block].items;
    return std::any_of(items.begin(), items.end(), [](const Item& i) { return i.kind == Item::kLoop; });
  }

  size_t items_in(int32_t block) const {
    size_t count = 0;
    for (const Item& item : nest_.blocks[block].items) {
      count += item.kind == Item::kLoop ? items_in(nest_.loops[item.id].body) : 1;
    }
    return count;
  }

  void forget_inside(int32_t id) {
    const Loop& loop = nest_.loops[id];
    for (const int32_t block : {loop.head, loop.body}) {
      if (block == kNoId) continue;
      for (const Item& item : nest_.blocks[block].items) {
        if (item.kind != Item::kLoop) continue;
        plan_.lanes[item.id] = plan_.after[item.id] = 0;
        plan_.tiled[item.id] = false;
        forget_inside(item.id);
      }
    }
  }

  const Nest& nest_;
  const bool avx512_;
  const LaneCost cost_;
  KernelPlan& plan_;
};

/// Time per stored byte for one thread that reads about as many bytes: this memory traffic hides arithmetic.
constexpr double kStoredByteNs = 0.1;

/// Bytes that the stores of a block write in all iterations of its loops.
double stored_bytes_of(const Nest& nest, int32_t block, double iterations) {
  double bytes = 0;
  for (const Item& item : nest.blocks[block].items) {
    if (item.kind == Item::kStore) {
      const auto buffer = static_cast<size_t>(nest.stores[item.id].buffer);
      bytes += iterations * static_cast<double>(stored_bytes(nest.buffers[buffer].type));
    } else if (item.kind == Item::kLoop) {
      const Loop& loop = nest.loops[item.id];
      bytes += stored_bytes_of(nest, loop.body, iterations * static_cast<double>(std::max<int64_t>(1, loop.extent)));
    }
  }
  return bytes;
}

}  // namespace

KernelPlan plan_without_lanes(const Nest& nest) {
  return {.lanes = std::vector<int32_t>(nest.loops.size(), 0),
          .after = std::vector<int32_t>(nest.loops.size(), 0),
          .masked = std::vector<bool>(nest.loops.size(), false),
          .tiled = std::vector<bool>(nest.loops.size(), false),
          .pieces = pieces_of(nest)};
}

KernelPlan plan_kernel(const Nest& nest, bool avx512) {
  KernelPlan plan = plan_without_lanes(nest);
  Planner planner(nest, avx512, plan);
  std::vector<double> cycles(nest.loops.size(), 0);
  double outside = 0;
  for (const Item& item : nest.blocks[0].items) {
    if (item.kind == Item::kLoop) outside += cycles[item.id] = planner.decide(item.id);
  }
  for (PiecePlan& piece : plan.pieces) {
    double total = outside;
    if (piece.loop != kNoId) {
      total = cycles[piece.loop];
      const auto loop = static_cast<size_t>(piece.loop);
      piece.figures.granule = plan.tiled[loop] ? find_tiling(nest, piece.loop, avx512).side
                                               : std::max({1, plan.lanes[loop], plan.after[loop]});
    }
    double ns = total / kCyclesPerNanosecond;
    if (piece.loop != kNoId) {
      const Loop& loop = nest.loops[piece.loop];
      ns = std::max(ns, kStoredByteNs * stored_bytes_of(nest, loop.body, static_cast<double>(loop.extent)));
    }
    piece.figures.cost = ns / static_cast<double>(std::max<int64_t>(1, piece.figures.extent));
  }
  return plan;
}

}  // namespace lowtide::engine
