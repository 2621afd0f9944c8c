#pragma once
/// dot of few rows with a matrix whose rows are read in place. Libraries pack the right operand first, which for few
/// rows takes as long as multiplying; here a block of its rows stays in cache while it is multiplied with all rows of
/// left.

#include "library/gemm.h"
#include "library/library.h"

namespace lowtide::engine {

/// For f32 and f64. Null if rows are many, or columns of right aren't whole contiguous vectors. `adds`: adds operand 2.
std::unique_ptr<LibraryRoutine> make_dot_unpacked(const MatrixView& left, const MatrixView& right, ElementType result,
                                                  bool adds);

}  // namespace lowtide::engine
