#pragma once
/// dot of a few rows with a large matrix whose columns are contiguous: the other way round, result^T = right^T left^T,
/// so that the large one is read as it lies. Otherwise each call turns all of it round.

#include "library/gemm.h"
#include "library/library.h"

namespace lowtide::engine {

/// Null where rows are many, or right lies otherwise. Types as in make_dot_by_onednn.
std::unique_ptr<LibraryRoutine> make_dot_of_few_rows(const MatrixView& left, const MatrixView& right,
                                                     ElementType result);

}  // namespace lowtide::engine
