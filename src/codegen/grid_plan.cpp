#include "codegen/grid_plan.h"

#include <algorithm>
#include <cstdlib>

#include "base/int128.h"
#include "base/status.h"
#include "codegen/pieces.h"

namespace lowtide::engine {
namespace {

int64_t parts_of(int64_t whole, int64_t part) { return (whole + part - 1) / part; }

class Division {
 public:
  Division(const Nest& nest, const GridMachine& machine) : nest_(nest), machine_(machine) {
    splits_ = std::none_of(nest.buffers.begin(), nest.buffers.end(),
                           [](const NestBuffer& buffer) { return buffer.read && buffer.written; });
  }

  void divide(const PiecePlan& piece, int32_t number, std::vector<GridLaunch>& launches) const {
    if (piece.loop == kNoId || piece.figures.sequential) {
      const std::vector<int32_t> inside = piece.loop == kNoId ? std::vector<int32_t>() : loops_of_own(piece.loop);
      if (inside.empty()) return launches.push_back({.piece = number});
      add({.piece = number, .shared = inside, .ordered = piece.loop}, launches);
    } else {
      descend({.piece = number}, piece.loop, launches);
    }
  }

 private:
  void descend(GridLaunch launch, int32_t id, std::vector<GridLaunch>& launches) const {
    launch.shared.push_back(id);
    std::vector<int32_t> inside;
    bool stores = false, parallel = true;
    for (const Item& item : nest_.blocks[loop(id).body].items) {
      stores = stores || item.kind == Item::kStore;
      if (item.kind != Item::kLoop) continue;
      inside.push_back(item.id);
      parallel = parallel && loop(item.id).kind == LoopKind::kParallel;
    }
    const bool is_chain = inside.size() == 1 && !stores;
    if (inside.empty() || !parallel || !(is_chain || splits_)) return add(std::move(launch), launches);
    for (const int32_t next : inside) descend(launch, next, launches);
    if (!stores) return;
    launch.part = GridPart::kStores;
    add(std::move(launch), launches);
  }

  /// The parallel loops inside an ordered one, outermost first, if each of their iterations has its own elements: no
  /// two access the same one, in any iterations of the ordered loop. Empty: not known.
  std::vector<int32_t> loops_of_own(int32_t ordered) const {
    if (loop(ordered).kind != LoopKind::kSequential || !loop(ordered).carried.empty()) return {};
    std::vector<int32_t> loops;
    for (int32_t id = ordered;;) {
      int32_t inside = kNoId;
      bool stores = false;
      for (const Item& item : nest_.blocks[loop(id).body].items) {
        if (item.kind == Item::kLoop && (inside != kNoId || loop(item.id).kind != LoopKind::kParallel)) return {};
        if (item.kind == Item::kLoop) inside = item.id;
        if (item.kind == Item::kStore) stores = true;
      }
      if (inside == kNoId) break;
      if (stores) return {};
      loops.push_back(id = inside);
    }
    if (loops.empty()) return {};
    const int32_t block = loop(loops.back()).body;
    for (const Store& store : nest_.stores) {
      if (store.block == block && !tells(store.index, loops)) return {};
    }
    return reads_what_it_writes(block) ? loops : std::vector<int32_t>();
  }

  /// Does every load from a written buffer read the element that the same iteration stores?
  bool reads_what_it_writes(int32_t block) const {
    for (const Node& node : nest_.nodes) {
      if (node.kind != NodeKind::kLoad || !nest_.buffers[node.buffer].written) continue;
      for (const Store& store : nest_.stores) {
        if (store.buffer == node.buffer && (store.block != block || store.index != node.affine)) return false;
      }
    }
    return true;
  }

  /// Does the element's index determine the iterations of these loops? It does if its terms are like digits: each
  /// coefficient exceeds the range of all smaller terms together.
  bool tells(const Affine& element, const std::vector<int32_t>& loops) const {
    std::vector<Affine::Term> terms = element.terms;
    std::ranges::sort(terms, {}, [](const Affine::Term& term) { return std::llabs(term.coefficient); });
    Int128 below = 0;
    for (const auto& term : terms) {
      const Node& atom = nest_.nodes[term.atom];
      const Int128 size = std::llabs(term.coefficient);
      if (size <= below) return false;
      below += size * (Int128{atom.greatest} - atom.least);
    }
    return std::ranges::all_of(loops, [&](int32_t id) {
      return loop(id).extent == 1 || std::ranges::any_of(terms, [&](const Affine::Term& term) {
               const Node& atom = nest_.nodes[term.atom];
               return atom.kind == NodeKind::kLoopIndex && atom.loop == id;
             });
    });
  }

  void add(GridLaunch grid, std::vector<GridLaunch>& launches) const {
    grid.columns = grid.shared;
    grid.iterations = iterations(grid.columns);
    const int32_t along_rows = walked_across(grid.columns);
    if (along_rows != kNoId) {
      grid.rows = std::move(grid.columns);
      grid.columns = {grid.rows.back()};
      grid.rows.pop_back();
      // Last among the rows, so that adjacent rows are adjacent in memory for transposed loads.
      std::erase(grid.rows, along_rows);
      grid.rows.push_back(along_rows);
      grid.tile_columns = machine_.tile_columns;
      grid.tile_rows = machine_.block_threads / machine_.tile_columns;
    } else {
      // A short launch needs no more threads than elements, rounded up to whole runs of memory.
      const int64_t runs = parts_of(grid.iterations, machine_.tile_columns);
      grid.tile_columns = static_cast<int32_t>(
          std::min<int64_t>(machine_.block_threads, std::max<int64_t>(runs, 1) * machine_.tile_columns));
    }
    grid.tiles =
        parts_of(iterations(grid.rows), grid.tile_rows) * parts_of(iterations(grid.columns), grid.tile_columns);
    grid.blocks = std::clamp<int64_t>(parts_of(grid.tiles, machine_.thread_elements), 1, machine_.most_blocks);
    launches.push_back(std::move(grid));
  }

  const Loop& loop(int32_t id) const { return nest_.loops[id]; }

  int64_t iterations(const std::vector<int32_t>& loops) const {
    int64_t product = 1;
    for (const int32_t id : loops) product *= loop(id).extent;
    return product;
  }

  /// If a load has a stride along the innermost loop, but is contiguous along an outer one, that outer loop: a tile of
  /// both loops reads whole runs of memory. kNoId: there is no such load.
  int32_t walked_across(const std::vector<int32_t>& loops) const {
    const int32_t inner = loops.back();
    if (loops.size() < 2 || loop(inner).extent < machine_.tile_columns) return kNoId;
    for (const Item& item : nest_.blocks[loop(inner).body].items) {
      if (item.kind != Item::kNode) continue;
      const Node& node = nest_.nodes[item.id];
      if (node.kind != NodeKind::kLoad) continue;
      int64_t step = 0;
      int32_t along = kNoId;
      for (const auto& term : node.affine.terms) {
        const Node& atom = nest_.nodes[term.atom];
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
  bool splits_ = false;  // no buffer is both read and written
};

}  // namespace

GridPlan plan_grid(const Nest& nest, const GridMachine& machine) {
  LT_ASSERT(machine.block_threads > 0 && machine.tile_columns > 0 && machine.thread_elements > 0 &&
                machine.most_blocks > 0 && machine.block_threads % machine.tile_columns == 0,
            "a grid is planned for a machine that is not described");
  GridPlan plan{.scalar = plan_without_lanes(nest), .launches = {}};
  const Division division(nest, machine);
  for (size_t p = 0; p < plan.scalar.pieces.size(); ++p) {
    division.divide(plan.scalar.pieces[p], static_cast<int32_t>(p), plan.launches);
  }
  return plan;
}

}  // namespace lowtide::engine
