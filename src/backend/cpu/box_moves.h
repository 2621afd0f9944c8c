#pragma once
/// Boxes of an array that move in place.

#include <cstddef>

#include "base/thread_pool.h"
#include "schedule/box_moves.h"

namespace lowtide::engine {

void run_box_moves(const BoxMoves& moves, std::byte* array, std::byte* scratch, ThreadPool& pool);

}  // namespace lowtide::engine
