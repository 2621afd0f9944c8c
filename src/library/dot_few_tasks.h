#pragma once
/// dot of few rows with a large row-major matrix, to a small result of long sums: cut in the depth, each part summed
/// beside the result on a thread of its own. Cut in rows or columns, each part would read, and pack, the large one with
/// fewer to use it for.

#include "library/gemm.h"
#include "library/library.h"

namespace lowtide::engine {

/// Null where rows are many, sums short, or right lies otherwise. Types as in make_dot_by_onednn.
std::unique_ptr<LibraryRoutine> make_dot_of_few_tasks(const MatrixView& left, const MatrixView& right,
                                                      ElementType result, bool adds);

}  // namespace lowtide::engine
