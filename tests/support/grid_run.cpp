#include "support/grid_run.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "codegen/object_loader.h"

namespace lowtide {

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
  LT_ASSIGN_OR_RETURN(grid.object_, compile_grid({.nest = &nest, .plan = &grid.plan_, .apart = true}));
  LT_ASSIGN_OR_RETURN(LoadedObject loaded, load_object(grid.object_, kKernelSymbol));
  grid.code_ = std::move(loaded.pages);
  grid.function_ = std::bit_cast<GridFunction>(loaded.symbol);
  return grid;
}

void HostGrid::run(std::span<void* const> buffers, std::mt19937_64& order, int64_t skipped) const {
  std::vector<int64_t> threads;
  for (size_t p = 0; p < plan_.pieces.size(); ++p) {
    const GridPiece& piece = plan_.pieces[p];
    const int64_t extent = plan_.scalar.pieces[p].figures.extent;
    const int64_t middle = piece.shared.empty() ? 0 : static_cast<int64_t>(order() % static_cast<uint64_t>(extent + 1));
    for (const auto& [begin, end] : {std::pair(int64_t{0}, middle), std::pair(middle, extent)}) {
      if (begin == end) continue;
      threads.resize(static_cast<size_t>(piece.blocks * piece.threads()));
      std::iota(threads.begin(), threads.end(), int64_t{0});
      std::ranges::shuffle(threads, order);
      for (const int64_t thread : threads) {
        if (thread == skipped) continue;
        function_(buffers.data(), static_cast<int64_t>(p), begin, end, static_cast<int32_t>(thread / piece.threads()),
                  static_cast<int32_t>(piece.blocks), static_cast<int32_t>(thread % piece.threads()));
      }
    }
  }
}

}  // namespace lowtide
