#include "runtime/split.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "base/status.h"

namespace lowtide::engine {
namespace {

/// Chunks per thread: some run on slower or busier processors.
constexpr int64_t kShares = 4;
constexpr int64_t kCopiedAtOnce = int64_t{1} << 20;

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

namespace {

/// Does writing one of them change what another one reads?
bool meet(std::span<const Shift> shifts) {
  for (const Shift& writer : shifts) {
    for (const Shift& reader : shifts) {
      if (&writer != &reader && writer.to != writer.from && writer.bytes > 0 && writer.to == reader.from) return true;
    }
  }
  return false;
}

}  // namespace

void shift_at_once(std::span<const Shift> shifts, std::span<std::byte> strip, ThreadPool& pool) {
  if (shifts.size() < 2 || !meet(shifts)) {
    for (const Shift& shift : shifts) copy_bytes(shift.to, shift.from, shift.bytes, pool);
    return;
  }
  int64_t longest = 0;
  for (const Shift& shift : shifts) longest = std::max(longest, shift.bytes);
  const auto room = static_cast<int64_t>(strip.size() / shifts.size());
  LT_ASSERT(room > 0, "more values change places at once than a strip has bytes");
  for (int64_t at = 0; at < longest; at += room) {
    const auto part = [&](const Shift& shift) {
      return static_cast<size_t>(std::clamp<int64_t>(shift.bytes - at, 0, room));
    };
    std::byte* held = strip.data();
    for (const Shift& shift : shifts) held = std::copy_n(shift.from + at, part(shift), held);
    held = strip.data();
    for (const Shift& shift : shifts) {
      std::copy_n(held, part(shift), shift.to + at);
      held += part(shift);
    }
  }
}

}  // namespace lowtide::engine
