#include "runtime/split.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

namespace lowtide {
namespace {

/// Chunks per thread: some run on slower or busier processors.
constexpr int64_t kShares = 4;
constexpr int64_t kCopiedAtOnce = int64_t{1} << 20;

}  // namespace

Cut cut(const KernelPiece& piece, int threads) {
  if (piece.extent <= 0) return {0, 0};
  const double cost = piece.cost * static_cast<double>(piece.extent);
  if (piece.sequential || threads <= 1 || cost < 2 * kWorthSplitting) return {piece.extent, 1};
  const auto granule = std::max<int64_t>(1, piece.granule);
  const auto granules = (piece.extent + granule - 1) / granule;
  const auto worth = static_cast<int64_t>(std::min(cost / kWorthSplitting, 1e9));
  const int64_t wanted = std::min({granules, worth, kShares * threads});
  const int64_t chunk = (granules + wanted - 1) / wanted * granule;
  return {chunk, (piece.extent + chunk - 1) / chunk};
}

std::vector<Cut> cuts(const Kernel& kernel, int threads) {
  std::vector<Cut> all;
  for (const KernelPiece& piece : kernel.pieces) all.push_back(cut(piece, threads));
  return all;
}

void run_kernel(const Kernel& kernel, std::span<const Cut> cuts, void* const* buffers, ThreadPool& pool) {
  for (size_t p = 0; p < cuts.size(); ++p) {
    const Cut how = cuts[p];
    const int64_t extent = kernel.pieces[p].extent;
    const auto number = static_cast<int64_t>(p);
    if (how.chunks == 0) continue;
    if (how.chunks == 1) {
      kernel.run(buffers, number, 0, extent);
      continue;
    }
    const auto task = [&](int64_t i, int) {
      kernel.run(buffers, number, i * how.chunk, std::min(extent, (i + 1) * how.chunk));
    };
    pool.run(how.chunks, std::ref(task));
  }
}

void copy_bytes(void* to, const void* from, int64_t bytes, ThreadPool& pool) {
  if (to == from || bytes == 0) return;
  auto* const target = static_cast<std::byte*>(to);
  const auto* const source = static_cast<const std::byte*>(from);
  const bool apart = std::less_equal<>()(target + bytes, source) || std::less_equal<>()(source + bytes, target);
  if (!apart || bytes < 2 * kCopiedAtOnce) {
    std::memmove(to, from, static_cast<size_t>(bytes));
    return;
  }
  const auto task = [&](int64_t i, int) {
    const int64_t at = i * kCopiedAtOnce;
    std::memcpy(target + at, source + at, static_cast<size_t>(std::min(kCopiedAtOnce, bytes - at)));
  };
  pool.run((bytes + kCopiedAtOnce - 1) / kCopiedAtOnce, std::ref(task));
}

}  // namespace lowtide
