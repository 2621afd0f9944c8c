#pragma once
/// A grid without a device: the threads of a nest (codegen/grid_plan.h) one after the other, in an order that nothing
/// has agreed upon.

#include <cstdint>
#include <memory>
#include <random>
#include <span>

#include "base/status.h"
#include "codegen/grid_kernel.h"

namespace lowtide::engine {

class HostGrid {
 public:
  static Result<HostGrid> make(const Nest& nest, const GridMachine& machine);

  /// Every thread of every launch once, launch after launch, each in two turns that share its outermost loop. `skipped`
  /// names a thread that is left out, counted in each of them; -1: none is.
  void run(std::span<void* const> buffers, std::mt19937_64& order, int64_t skipped = -1) const;
  /// Every thread by itself on what the buffers hold before its launch, then all that they wrote put together. Empty,
  /// or which byte two threads wrote. The same result as of `run` proves that none reads what another one writes.
  std::string run_each_alone(std::span<const std::span<std::byte>> buffers) const;
  /// What that takes: bytes that are copied and compared.
  double bytes_to_run_alone() const;

  /// One thread, counted over the launch's blocks.
  void call(std::span<void* const> buffers, size_t launch, int64_t begin, int64_t end, int64_t thread) const;

  const GridPlan& plan() const { return plan_; }

 private:
  int64_t extent_of(const GridLaunch& launch) const;

  GridPlan plan_;
  std::vector<NestBuffer> buffers_;
  std::shared_ptr<void> code_;
  GridFunction function_ = nullptr;
};

/// Small blocks, and now few, now many: what divides nothing evenly is tried with every seed.
GridMachine some_machine(std::mt19937_64& random);

}  // namespace lowtide::engine
