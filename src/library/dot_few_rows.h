#pragma once
/// dot of few rows with a large matrix with contiguous columns, computed as the transposed product, result^T = right^T
/// left^T, so that the large matrix is read in its layout. Otherwise each call would transpose all of it.

#include "library/gemm.h"
#include "library/library.h"

namespace lowtide::engine {

/// Null if rows are many, or right has another layout. Types as in make_dot_by_onednn.
std::unique_ptr<LibraryRoutine> make_dot_of_few_rows(const MatrixView& left, const MatrixView& right,
                                                     ElementType result);

}  // namespace lowtide::engine
