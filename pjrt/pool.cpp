#include "pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace lowtide::pjrt {
namespace {

constexpr size_t kPage = 4096;

void unmap(const Pool::Piece& piece) noexcept { ::munmap(piece.data, piece.bytes); }

}  // namespace

Pool::~Pool() { std::ranges::for_each(kept_, unmap); }

Pool::Piece Pool::take(size_t bytes) {
  bytes = (std::max<size_t>(bytes, 1) + kPage - 1) / kPage * kPage;
  std::vector<Piece> dropped;
  {
    const std::lock_guard lock(mutex_);
    auto best = kept_.end();
    for (auto piece = kept_.begin(); piece != kept_.end(); ++piece) {
      const bool fits =
          piece->bytes >= bytes && (rules_.most_slack == 0 || piece->bytes - bytes <= bytes / rules_.most_slack);
      if (fits && (best == kept_.end() || piece->bytes < best->bytes)) best = piece;
    }
    if (best != kept_.end()) {
      const Piece piece = *best;
      kept_.erase(best);
      kept_bytes_ -= piece.bytes;
      return piece;
    }
    // Cached pieces that don't fit are freed to make room.
    while (!kept_.empty() && (kept_.size() >= rules_.most_pieces || kept_bytes_ + bytes > rules_.most_bytes)) {
      dropped.push_back(kept_.front());
      kept_bytes_ -= kept_.front().bytes;
      kept_.erase(kept_.begin());
    }
  }
  std::ranges::for_each(dropped, unmap);
  void* const data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  constexpr size_t kHuge = size_t{2} << 20;
  if (bytes >= 2 * kHuge) (void)::madvise(data, bytes, MADV_HUGEPAGE);
  return {data, bytes};
}

void Pool::give_back(Piece piece) noexcept {
  const std::lock_guard lock(mutex_);
  if (piece.bytes > rules_.most_bytes) return unmap(piece);
  try {
    kept_.push_back(piece);
    kept_bytes_ += piece.bytes;
  } catch (const std::bad_alloc&) {  // then nothing is cached
    return unmap(piece);
  }
  while (kept_.size() > rules_.most_pieces || kept_bytes_ > rules_.most_bytes) {
    unmap(kept_.front());
    kept_bytes_ -= kept_.front().bytes;
    kept_.erase(kept_.begin());
  }
}

}  // namespace lowtide::pjrt
