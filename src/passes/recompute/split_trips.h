#pragma once
/// Splits a loop that fills stacks, and the later loop that reads them, into loops over the first iterations and loops
/// over the rest, so that a rewrite can apply to some of the iterations.
///
///     while (i < n): xs[i] = x  x = f(x)         while (i < m): as[i] = x  x = f(x)
///     while (j < n): .. xs[n - 1 - j] ..   ==>   while (i < n - m): bs[i] = x  x = f(x)
///                                                while (j < n - m): .. bs[n - 1 - j - m] ..
///                                                while (j < m): .. as[m - 1 - j] ..

#include <vector>

#include "passes/rules/saved_stacks.h"

namespace lowtide::engine {

/// The order in which iterations read the slices of a stack.
enum class Direction : uint8_t { kForwards, kBackwards };

/// A loop that fills stacks, a later one that reads them, and the index at which it reads.
struct LoopPair {
  Instruction* loop = nullptr;
  Instruction* reader = nullptr;
  Instruction* place = nullptr;  ///< in the reader's body
};

/// What is split: stacks with no other reader, read only at this place.
struct SplitRequest {
  LoopPair pair;
  const SavedStacks* saved = nullptr;     ///< of pair.loop
  std::vector<const SavedStack*> stacks;  ///< some of them
  size_t reader_counter = 0;              ///< the element of the reader's tuple that counts its iterations from 0
  Direction direction = Direction::kForwards;
};

/// Both pairs: for the first `first` iterations, and for the others. The old loops are left without readers.
struct SplitPairs {
  LoopPair first, rest;
};
SplitPairs split_trips(const SplitRequest& request, int64_t first);

}  // namespace lowtide::engine
