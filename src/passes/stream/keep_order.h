#pragma once
/// Which streams keep every sum's order (Module::sums_in_order): those whose tiles don't split sums, and that sum
/// within a slice as the whole computation would.
///
///     along m:  y = f32[4096,128] dot(p, v)        each row is summed by itself          in order
///     along k:  g = f32[64,128] dot(p, dy)         g = dot(p[.., i:i+64], dy[i:i+64], g)  continues g
///     along r:  n = f32[128] reduce(e, 0), add     n = reduce({n, e[i:i+64]}), add        the same
///     along k:  g of a loop's state                g += ...                               partial sums, added up
///     along k:  m = f32[4096] reduce(s, -inf), max                                       any order is the same
///     scatters: places in the order of their updates, tile after tile                    in order

#include "passes/stream/cluster.h"

namespace lowtide::engine {

enum class FoldOrder : uint8_t {
  kAny,        ///< parts may be added up: the same bits in any order
  kContinued,  ///< the next tile's terms follow those of the tiles before, one by one
  kNone,       ///< tiles would add up parts, or terms in another order
};
/// How dimension d of operand number `operand` can be folded tile by tile with bit-identical results.
FoldOrder fold_order(const Instruction& fold, size_t operand, int64_t d, const Target& target);
/// Is no sum within the loop split among tiles?
bool walk_keeps_order(const LoopWalk& walk);
/// Is each product of a tile, and of the remainder, computed like the whole one: by the same library, or elementwise?
/// Few rows are computed differently from many, with different rounding.
bool tile_keeps_order(const ValueGraph& graph, const StreamCluster& cluster, int64_t tile);
/// May the operation be computed row by row along d, whatever the number of rows?
bool rows_keep_order(const Instruction& i, int64_t d, const Target& target);

}  // namespace lowtide::engine
