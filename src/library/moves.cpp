#include "library/moves.h"

#include <algorithm>
#include <numeric>

#include "library/lanes.h"
#include "library/transpose_in_place.h"

namespace lowtide::engine {
namespace {

int64_t product(const std::vector<int64_t>& extents, const std::vector<size_t>& order, size_t begin, size_t end) {
  int64_t n = 1;
  for (size_t k = begin; k < end; ++k) n *= extents[order[k]];
  return n;
}

/// The largest divisor that is at most `most`; 1 if there is none.
int64_t divisor(int64_t n, int64_t most) {
  int64_t best = 1;
  for (int64_t d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    if (d <= most) best = std::max(best, d);
    if (n / d <= most) best = std::max(best, n / d);
  }
  return best;
}

/// Splits a transpose into that of panels of rows, or of columns, that fit a cache, and that of units of their lines.
void add_transpose(const ArrayMove& move, std::vector<ArrayMove>& moves) {
  const auto [kind, batch, rows, columns, unit] = move;
  if (rows == 1 || columns == 1) return;
  const int64_t near = near_matrix(move);
  const bool moves_alone = rows == columns || unit >= kLeastUnit || rows * columns * unit <= near;
  const int64_t some_rows = moves_alone ? 1 : divisor(rows, near / (columns * unit));
  const int64_t some_columns = moves_alone ? 1 : divisor(columns, near / (rows * unit));
  const int64_t longer = std::max(some_rows, some_columns);
  if (longer * unit < kLeastUnit || moves_alone) {
    moves.push_back(move);
  } else if (longer == some_rows) {
    moves.push_back({kind, batch * (rows / longer), longer, columns, unit});
    moves.push_back({kind, batch, rows / longer, columns, longer * unit});
  } else {
    moves.push_back({kind, batch, rows, columns / longer, longer * unit});
    moves.push_back({kind, batch * (columns / longer), rows, longer, unit});
  }
}

}  // namespace

std::vector<ArrayMove> moves_of(const std::vector<int64_t>& extents, const std::vector<size_t>& order,
                                const std::vector<bool>& reversed, int64_t element_bytes) {
  std::vector<ArrayMove> moves;
  if (std::ranges::find(extents, 0) != extents.end()) return moves;  // there are no elements
  std::vector<size_t> now(order.size());
  std::iota(now.begin(), now.end(), size_t{0});
  const size_t rank = order.size();
  const auto part = [&](size_t begin, size_t end) { return product(extents, now, begin, end); };
  for (size_t k = 0; k < rank; ++k) {
    if (!reversed[k]) continue;
    size_t end = k + 1;
    while (end < rank && reversed[end]) ++end;
    const ArrayMove move{ArrayMove::kReverse, part(0, k), 1, part(k, end), part(end, rank) * element_bytes};
    if (move.columns > 1) moves.push_back(move);
    k = end;
  }
  // From the front on: each dimension moves before all that still precede it.
  for (size_t k = 0; k < rank;) {
    const auto at = static_cast<size_t>(std::find(now.begin(), now.end(), order[k]) - now.begin());
    size_t end = at;
    while (end < rank && now[end] == order[k + end - at]) ++end;
    if (at != k) {
      add_transpose({ArrayMove::kTranspose, part(0, k), part(k, at), part(at, end), part(end, rank) * element_bytes},
                    moves);
      std::rotate(now.begin() + static_cast<std::ptrdiff_t>(k), now.begin() + static_cast<std::ptrdiff_t>(at),
                  now.begin() + static_cast<std::ptrdiff_t>(end));
    }
    k += end - at;
  }
  return moves;
}

int64_t scratch_of(const ArrayMove& move) {
  return move.kind == ArrayMove::kReverse || move.batch == 0 ? 0 : transpose_scratch(move);
}

double sweeps_of(const ArrayMove& move) { return move.kind == ArrayMove::kReverse ? 1 : transpose_sweeps(move); }

void run(const ArrayMove& move, std::byte* array, std::byte* scratch, ThreadPool& pool) {
  if (move.bytes() == 0) return;
  if (move.kind == ArrayMove::kReverse) {
    reverse_in_place(move, array, pool);
  } else {
    transpose_in_place(move, array, scratch, pool);
  }
}

}  // namespace lowtide::engine
