#pragma once
/// dot of a matrix with few columns, or of few rows with a matrix that is stored by columns: terms fill the lanes of
/// vectors, whereas libraries would fill them with columns, and leave most lanes empty.

#include "library/gemm.h"
#include "library/library.h"

namespace lowtide::engine {

/// For f32 and f64. Null if neither side is narrow, or if the other isn't stored term after term. `adds`: adds
/// operand 2.
std::unique_ptr<LibraryRoutine> make_dot_of_few_columns(const MatrixView& left, const MatrixView& right,
                                                        ElementType result, bool adds);

}  // namespace lowtide::engine
