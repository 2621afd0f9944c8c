#pragma once
/// dot of few rows with a large row-major matrix, to a small result with long sums, which are split: each thread sums
/// one range of the contracting dimension into scratch. If rows or columns were split, each part would read, and pack,
/// the large matrix with fewer products to use it for.

#include "library/gemm.h"
#include "library/library.h"

namespace lowtide::engine {

/// Null if rows are many, sums short, or right has another layout. Types as in make_dot_by_onednn.
std::unique_ptr<LibraryRoutine> make_dot_of_few_tasks(const MatrixView& left, const MatrixView& right,
                                                      ElementType result, bool adds);

}  // namespace lowtide::engine
