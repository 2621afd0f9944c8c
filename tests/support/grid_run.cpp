#include "support/grid_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "codegen/object_loader.h"

namespace lowtide::engine {

GridMachine some_machine(std::mt19937_64& random) {
  const auto one_of = [&](std::initializer_list<int32_t> choices) {
    return choices.begin()[random() % choices.size()];
  };
  const int32_t columns = one_of({1, 2, 4, 8});
  return {.block_threads = columns * one_of({1, 2, 8, 16}),
          .tile_columns = columns,
          .thread_elements = one_of({1, 3, 7}),
          .most_blocks = one_of({2, 5, 1 << 20})};
}

Result<HostGrid> HostGrid::make(const Nest& nest, const GridMachine& machine) {
  HostGrid grid;
  grid.plan_ = plan_grid(nest, machine);
  grid.buffers_ = nest.buffers;
  LT_ASSIGN_OR_RETURN(const std::string object, compile_grid({.nest = &nest, .plan = &grid.plan_}));
  LT_ASSIGN_OR_RETURN(LoadedObject loaded, load_object(object, kKernelSymbol));
  grid.code_ = std::move(loaded.pages);
  grid.function_ = std::bit_cast<GridFunction>(loaded.symbol);
  return grid;
}

void HostGrid::call(std::span<void* const> buffers, size_t launch, int64_t begin, int64_t end, int64_t thread) const {
  const GridLaunch& grid = plan_.launches[launch];
  function_(buffers.data(), static_cast<int64_t>(launch), begin, end, static_cast<int32_t>(thread / grid.threads()),
            static_cast<int32_t>(grid.blocks), static_cast<int32_t>(thread % grid.threads()));
}

int64_t HostGrid::extent_of(const GridLaunch& launch) const { return plan_.scalar.pieces[launch.piece].figures.extent; }

void HostGrid::run(std::span<void* const> buffers, std::mt19937_64& order, int64_t skipped) const {
  std::vector<int64_t> threads;
  for (size_t p = 0; p < plan_.launches.size(); ++p) {
    const GridLaunch& launch = plan_.launches[p];
    const int64_t extent = extent_of(launch);
    const int64_t middle =
        launch.shared.empty() ? 0 : static_cast<int64_t>(order() % static_cast<uint64_t>(extent + 1));
    for (const auto& [begin, end] : {std::pair(int64_t{0}, middle), std::pair(middle, extent)}) {
      if (begin == end) continue;
      threads.resize(static_cast<size_t>(launch.blocks * launch.threads()));
      std::iota(threads.begin(), threads.end(), int64_t{0});
      std::ranges::shuffle(threads, order);
      for (const int64_t thread : threads) {
        if (thread == skipped) continue;
        call(buffers, p, begin, end, thread);
      }
    }
  }
}

double HostGrid::bytes_to_run_alone() const {
  double written = 0, threads = 0;
  for (const NestBuffer& buffer : buffers_) {
    if (buffer.written) written += static_cast<double>(buffer.elements * stored_bytes(buffer.type));
  }
  for (const GridLaunch& launch : plan_.launches) threads += static_cast<double>(launch.blocks * launch.threads());
  return written * threads;
}

std::string HostGrid::run_each_alone(std::span<const std::span<std::byte>> buffers) const {
  std::vector<std::vector<std::byte>> used;
  for (const auto& buffer : buffers) used.emplace_back(buffer.begin(), buffer.end());
  std::vector<void*> addresses;
  for (auto& buffer : used) addresses.push_back(buffer.data());
  for (size_t p = 0; p < plan_.launches.size(); ++p) {
    const std::vector<std::vector<std::byte>> before = used;
    std::vector<std::vector<int64_t>> writer;  // by buffer and byte
    for (const auto& buffer : used) writer.emplace_back(buffer.size(), -1);
    const GridLaunch& launch = plan_.launches[p];
    const int64_t threads = launch.blocks * launch.threads();
    for (int64_t thread = 0; thread < threads; ++thread) {
      call(addresses, p, 0, extent_of(launch), thread);
      for (size_t b = 0; b < used.size(); ++b) {
        if (!buffers_[b].written || used[b] == before[b]) continue;
        for (size_t i = 0; i < used[b].size(); ++i) {
          if (used[b][i] == before[b][i]) continue;
          if (writer[b][i] != -1)
            return fmt::format("byte {} of buffer {} is written by threads {} and {}", i, b, writer[b][i], thread);
          writer[b][i] = thread;
          buffers[b][i] = std::exchange(used[b][i], before[b][i]);
        }
      }
    }
    for (size_t b = 0; b < used.size(); ++b) {
      if (buffers_[b].written) std::ranges::copy(buffers[b], used[b].begin());
    }
  }
  return {};
}

}  // namespace lowtide::engine
