#pragma once
/// How a nest is divided among the threads of a grid: blocks of threads that are started together, each thread with
/// scalars of its own. Vendor-independent.
///
/// Threads divide the outer parallel loops of a piece; inner loops, and loops with carried values, run within a thread.
/// No two threads write the same element, and none reads what another one writes: a parallel loop guarantees this for
/// its iterations (nest.h), and each iteration belongs to one thread. A kernel may therefore also run when a result
/// aliases an operand, as nest/accesses.h allows it: an element is read by the iteration that writes it, or by an
/// earlier piece. So pieces run one after the other, and no iteration runs twice.
///
/// A loop that contains several parallel ones becomes a launch for each, and a last one for its own stores, which may
/// load what the others write. Values in its body are recomputed by each launch.
///
/// In an ordered loop (the updates of a scatter, one after the other) threads divide the inner parallel loop, if the
/// element determines the thread: each thread runs all iterations in order on elements that no other one touches.

#include <cstdint>
#include <vector>

#include "codegen/kernel_plan.h"

namespace lowtide::engine {

/// The properties of a machine that decide how its threads divide work. All must be set.
struct GridMachine {
  int32_t block_threads = 0;    ///< of a block; a power of two
  int32_t tile_columns = 0;     ///< adjacent threads that read or write one run of memory; divides block_threads
  int32_t thread_elements = 0;  ///< how many one thread processes in sequence, if there are enough for all threads
  int64_t most_blocks = 0;      ///< of one launch
};

/// The part of a launch's innermost shared loop that its threads run.
enum class GridPart : uint8_t { kAll, kStores };

/// One launch: a piece, or a part of it, iterations [begin, end) of the piece's outermost loop. The iterations of the
/// shared loops are an array of rows and columns, cut into tiles of one element for each thread of a block: block b of
/// n takes the tiles b, b + n, b + 2n, ... counted along the rows of tiles.
struct GridLaunch {
  int32_t piece = 0;  ///< of GridPlan::scalar
  GridPart part = GridPart::kAll;
  /// The loops that threads divide, outermost first; of each but the last, the threads run only its values and the next
  /// loop. Empty: the piece runs in one thread.
  std::vector<int32_t> shared;
  /// A loop around `shared` that each thread runs from `begin` to `end` in order; kNoId: none.
  int32_t ordered = kNoId;
  std::vector<int32_t> rows, columns;  ///< `shared` as digits of the row's and the column's number
  int32_t tile_rows = 1, tile_columns = 1;
  int64_t iterations = 1;  ///< of the shared loops together
  int64_t tiles = 1;       ///< of the whole piece
  int64_t blocks = 1;      ///< to be started; fewer would work as well
  int32_t threads() const { return tile_rows * tile_columns; }
};

struct GridPlan {
  KernelPlan scalar;                 ///< the pieces; no loop is vectorised
  std::vector<GridLaunch> launches;  ///< in this order; those of one piece could run concurrently, except kStores
};

GridPlan plan_grid(const Nest& nest, const GridMachine& machine);

}  // namespace lowtide::engine
