#pragma once
/// Rows and columns that change places, and dimensions that are turned round, where an array lies: with little room
/// beside it, on several threads.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/thread_pool.h"

namespace lowtide::engine {

struct ArrayMove {
  enum Kind : uint8_t {
    kTranspose,  ///< [batch][rows][columns][unit] becomes [batch][columns][rows][unit]
    kReverse,    ///< [batch][columns][unit]: the last column becomes the first; one row
  };
  Kind kind = kTranspose;
  int64_t batch = 1, rows = 1, columns = 1;
  int64_t unit = 1;  ///< bytes that stay together
  int64_t bytes() const { return batch * rows * columns * unit; }
};

/// Applied in order, they turn a row-major array with these extents into one with its dimensions in this order:
/// dimension k of the result is order[k] of the operand, reversed if reversed[order[k]].
std::vector<ArrayMove> moves_of(const std::vector<int64_t>& extents, const std::vector<size_t>& order,
                                const std::vector<bool>& reversed, int64_t element_bytes);

/// 64-byte aligned; the same for every number of threads.
int64_t scratch_of(const ArrayMove& move);
/// How often all of the array is read and written.
double sweeps_of(const ArrayMove& move);
void run(const ArrayMove& move, std::byte* array, std::byte* scratch, ThreadPool& pool);

}  // namespace lowtide::engine
