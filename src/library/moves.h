#pragma once
/// Transposes and reversals of dimensions in place, with little scratch, on several threads.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/thread_pool.h"

namespace lowtide::engine {

struct ArrayMove {
  enum Kind : uint8_t {
    kTranspose,  ///< [batch][rows][columns][unit] becomes [batch][columns][rows][unit]
    kReverse,    ///< [batch][columns][unit]: columns in reverse order; rows is 1
  };
  Kind kind = kTranspose;
  int64_t batch = 1, rows = 1, columns = 1;
  int64_t unit = 1;  ///< bytes that move together
  int64_t bytes() const { return batch * rows * columns * unit; }
};

/// Moves that, applied in order, turn a row-major array with these extents into one with its dimensions in this order:
/// dimension k of the result is order[k] of the operand, reversed if reversed[order[k]].
std::vector<ArrayMove> moves_of(const std::vector<int64_t>& extents, const std::vector<size_t>& order,
                                const std::vector<bool>& reversed, int64_t element_bytes);

/// Bytes of scratch, which is 64-byte aligned; the same for every number of threads.
int64_t scratch_of(const ArrayMove& move);
/// How often the move reads and writes the whole array.
double sweeps_of(const ArrayMove& move);
void run(const ArrayMove& move, std::byte* array, std::byte* scratch, ThreadPool& pool);

}  // namespace lowtide::engine
