#pragma once
/// The source of buffers' and arenas' memory, and the number of bytes that the buffers of a device hold.

#include <atomic>
#include <cstdint>
#include <memory>

#include "pool.h"

namespace lowtide::pjrt {

/// Shared by all devices of a client: they are one machine.
struct Pools {
  static constexpr size_t kKeptBytes = size_t{64} << 20;
  explicit Pools(size_t devices) : arenas({.most_bytes = SIZE_MAX, .most_pieces = devices, .most_slack = 0}) {}
  Pool arrays{{.most_bytes = kKeptBytes, .most_pieces = 64, .most_slack = 4}};
  /// Programs that run one after another share an arena; concurrent ones have one each.
  Pool arenas;
};

struct Ledger {
  explicit Ledger(std::shared_ptr<Pools> of) : pools(std::move(of)) {}
  const std::shared_ptr<Pools> pools;
  std::atomic<int64_t> in_use = 0, peak = 0, allocations = 0, largest = 0;
  void take(int64_t bytes);
  void give_back(int64_t bytes) { in_use -= bytes; }
};

}  // namespace lowtide::pjrt
