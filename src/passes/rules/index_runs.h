#pragma once
/// Groups the known index vectors of a gather or scatter into few runs of equally spaced windows.

#include <optional>
#include <vector>

#include "ir/module.h"

namespace lowtide::engine {

/// The common form of gathers and scatters: windows of an array, one for each index vector.
struct IndexedWindows {
  const Instruction* array = nullptr;
  const Instruction* indices = nullptr;
  Dims places;                  ///< entry k of a vector counts in this dimension of the array
  Dims batches, index_batches;  ///< corresponding dimensions of the array and of the indices
  int64_t vector_dim = 0;       ///< of the indices
  Dims sizes;                   ///< of a window, in the array's dimensions

  Dims batch_extents() const;  ///< of the indices, without the vectors' dimension
  int64_t count() const;       ///< of windows
};

/// `count` windows from number `first` on: the first one starts at `start`, each next one `step` further along `dim`.
struct IndexRun {
  int64_t first = 0, count = 1;
  Dims start;
  int64_t dim = -1, step = 0;  ///< dim -1: all at the same place
};

/// The starts of all windows as the indices state them, unclamped; none if the indices aren't known.
std::optional<std::vector<Dims>> known_starts(const IndexedWindows& windows);
/// How often each start is repeated in a row, if all are equally often; else 1.
int64_t repeats_of(const std::vector<Dims>& starts);
/// Of each `repeats` starts the first.
std::vector<Dims> each_once(const std::vector<Dims>& starts, int64_t repeats);
/// None if there are more than `most`.
std::optional<std::vector<IndexRun>> runs_of(const std::vector<Dims>& starts, const Dims& sizes, size_t most);

}  // namespace lowtide::engine
