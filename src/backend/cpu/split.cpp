#include "backend/cpu/split.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace lowtide::engine {
namespace {

/// Chunks per thread: several, since some threads run on slower or busier processors.
constexpr int64_t kShares = 4;

}  // namespace

Portions portion(const KernelPiece& piece, int threads) {
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

std::vector<Portions> portions_of(const Kernel& kernel, int threads) {
  std::vector<Portions> all;
  for (const KernelPiece& piece : kernel.pieces) all.push_back(portion(piece, threads));
  return all;
}

void run_kernel(const Kernel& kernel, std::span<const Portions> portions, std::span<const int32_t> idle,
                void* const* buffers, ThreadPool& pool) {
  for (size_t p = 0; p < portions.size(); ++p) {
    if (std::binary_search(idle.begin(), idle.end(), static_cast<int32_t>(p))) continue;
    const Portions how = portions[p];
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

}  // namespace lowtide::engine
