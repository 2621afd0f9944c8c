#include "backend/cpu/box_moves.h"

#include <algorithm>
#include <cstring>

#include "backend/cpu/split.h"
#include "base/copy_bytes.h"

namespace lowtide::engine {
namespace {

/// Calls visit(element) with the first element of each run, counted from the box's first, in ascending or descending
/// order.
template <class Visit>
void for_each_run(const BoxMove& box, bool ascending, size_t axis, int64_t at, const Visit& visit) {
  if (axis == box.axes.size()) return visit(at);
  const auto& [stride, extent] = box.axes[axis];
  for (int64_t i = 0; i < extent; ++i) {
    for_each_run(box, ascending, axis + 1, at + stride * (ascending ? i : extent - 1 - i), visit);
  }
}

class MoveBoxes {
 public:
  MoveBoxes(const BoxMoves& moves, std::byte* scratch, ThreadPool& pool)
      : moves_(moves), scratch_(scratch), pool_(pool) {}

  void run(std::byte* block) {
    if (moves_.rotated > 0) return rotate(block);
    const int64_t size = moves_.element_bytes;
    for (const BoxMove& box : moves_.moves) {
      if (box.kept == kNoId) continue;
      std::byte* to = scratch_ + box.kept;
      for_each_run(box, true, 0, box.from, [&](int64_t at) {
        copy_bytes(to, block + at * size, box.run * size, pool_);
        to += box.run * size;
      });
    }
    for (const BoxMove& box : moves_.moves) {
      const std::byte* kept = box.kept == kNoId ? nullptr : scratch_ + box.kept;
      // Elements are read before a later run overwrites them.
      for_each_run(box, kept || box.from > box.to, 0, box.to, [&](int64_t at) {
        const std::byte* from = kept ? kept : block + (at + box.from - box.to) * size;
        copy_bytes(block + at * size, from, box.run * size, pool_);
        if (kept) kept += box.run * size;
      });
    }
  }

 private:
  void rotate(std::byte* block) const {
    const int64_t middle = moves_.rotated * moves_.element_bytes, bytes = moves_.block * moves_.element_bytes;
    if (middle % 8 == 0 && bytes % 8 == 0) return rotate<uint64_t>(block, middle, bytes);
    if (middle % 4 == 0 && bytes % 4 == 0) return rotate<uint32_t>(block, middle, bytes);
    rotate<uint8_t>(block, middle, bytes);
  }

  template <class Word>
  static void rotate(std::byte* block, int64_t middle, int64_t bytes) {
    constexpr auto kSize = static_cast<int64_t>(sizeof(Word));
    auto* const words = reinterpret_cast<Word*>(block);
    std::rotate(words, words + middle / kSize, words + bytes / kSize);
  }

  const BoxMoves& moves_;
  std::byte* const scratch_;
  ThreadPool& pool_;
};

}  // namespace

void run_box_moves(const BoxMoves& moves, std::byte* array, std::byte* scratch, ThreadPool& pool) {
  MoveBoxes all(moves, scratch, pool);
  for (int64_t b = 0; b < moves.blocks; ++b) all.run(array + b * moves.block * moves.element_bytes);
}

}  // namespace lowtide::engine
