#include "codegen/grid_plan.h"

#include <algorithm>
#include <cstdlib>

#include "base/status.h"
#include "codegen/pieces.h"

namespace lowtide {
namespace {

int64_t parts_of(int64_t whole, int64_t part) { return (whole + part - 1) / part; }

/// Each but the last holds nothing but values and the next.
std::vector<int32_t> shared_loops(const Nest& nest, int32_t outermost) {
  std::vector<int32_t> loops;
  for (int32_t id = outermost; id != kNoId;) {
    loops.push_back(id);
    int32_t inside = kNoId;
    bool is_alone = true;
    for (const Item& item : nest.blocks[static_cast<size_t>(nest.loops[static_cast<size_t>(id)].body)].items) {
      if (item.kind == Item::kNode) continue;
      is_alone = is_alone && item.kind == Item::kLoop && inside == kNoId;
      if (item.kind == Item::kLoop) inside = item.id;
    }
    const bool goes_on =
        inside != kNoId && is_alone && nest.loops[static_cast<size_t>(inside)].kind == LoopKind::kParallel;
    id = goes_on ? inside : kNoId;
  }
  return loops;
}

class Division {
 public:
  Division(const Nest& nest, const GridMachine& machine) : nest_(nest), machine_(machine) {}

  GridPiece divide(const PiecePlan& piece) const {
    GridPiece grid;
    if (piece.loop == kNoId || piece.figures.sequential) return grid;
    grid.shared = grid.columns = shared_loops(nest_, piece.loop);
    grid.iterations = iterations(grid.columns);
    const int32_t along_rows = walked_across(grid.columns);
    if (along_rows != kNoId) {
      grid.rows = std::move(grid.columns);
      grid.columns = {grid.rows.back()};
      grid.rows.pop_back();
      // Behind the others: neighbouring rows are then neighbours in memory for the loads that go across.
      std::erase(grid.rows, along_rows);
      grid.rows.push_back(along_rows);
      grid.tile_columns = machine_.tile_columns;
      grid.tile_rows = machine_.block_threads / machine_.tile_columns;
    } else {
      // A short piece needs no more threads than it has elements, in whole runs of memory.
      const int64_t runs = parts_of(grid.iterations, machine_.tile_columns);
      grid.tile_columns = static_cast<int32_t>(
          std::min<int64_t>(machine_.block_threads, std::max<int64_t>(runs, 1) * machine_.tile_columns));
    }
    grid.tiles =
        parts_of(iterations(grid.rows), grid.tile_rows) * parts_of(iterations(grid.columns), grid.tile_columns);
    grid.blocks = std::clamp<int64_t>(parts_of(grid.tiles, machine_.thread_elements), 1, machine_.most_blocks);
    return grid;
  }

 private:
  const Loop& loop(int32_t id) const { return nest_.loops[static_cast<size_t>(id)]; }

  int64_t iterations(const std::vector<int32_t>& loops) const {
    int64_t product = 1;
    for (const int32_t id : loops) product *= loop(id).extent;
    return product;
  }

  /// Where threads along the innermost loop step over memory, the outer loop along which the same load goes through
  /// memory element by element: a tile of both reads whole runs. kNoId: no load does that.
  int32_t walked_across(const std::vector<int32_t>& loops) const {
    const int32_t inner = loops.back();
    if (loops.size() < 2 || loop(inner).extent < machine_.tile_columns) return kNoId;
    for (const Item& item : nest_.blocks[static_cast<size_t>(loop(inner).body)].items) {
      if (item.kind != Item::kNode) continue;
      const Node& node = nest_.nodes[static_cast<size_t>(item.id)];
      if (node.kind != NodeKind::kLoad) continue;
      int64_t step = 0;
      int32_t along = kNoId;
      for (const auto& term : node.affine.terms) {
        const Node& atom = nest_.nodes[static_cast<size_t>(term.atom)];
        if (atom.kind != NodeKind::kLoopIndex) continue;
        if (atom.loop == inner) step = term.coefficient;
        const bool is_shared = atom.loop != inner && std::find(loops.begin(), loops.end(), atom.loop) != loops.end();
        if (is_shared && std::llabs(term.coefficient) == 1) along = atom.loop;
      }
      if (std::llabs(step) > 1 && along != kNoId) return along;
    }
    return kNoId;
  }

  const Nest& nest_;
  const GridMachine& machine_;
};

}  // namespace

GridPlan plan_grid(const Nest& nest, const GridMachine& machine) {
  LT_ASSERT(machine.block_threads > 0 && machine.tile_columns > 0 && machine.thread_elements > 0 &&
                machine.most_blocks > 0 && machine.block_threads % machine.tile_columns == 0,
            "a grid is planned for a machine that is not described");
  GridPlan plan{.scalar = {.lanes = std::vector<int32_t>(nest.loops.size(), 0),
                           .masked = std::vector<bool>(nest.loops.size(), false),
                           .tiled = std::vector<bool>(nest.loops.size(), false),
                           .pieces = pieces_of(nest)},
                .pieces = {}};
  const Division division(nest, machine);
  for (const PiecePlan& piece : plan.scalar.pieces) plan.pieces.push_back(division.divide(piece));
  return plan;
}

}  // namespace lowtide
