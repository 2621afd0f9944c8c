#pragma once
/// left [m, k] times right [k, n] where rows make too few tiles for the threads, as few rows times a matrix of weights:
/// tiles of columns, each with copies of what it multiplies, block of depth after block of depth.

#include <memory>

#include "library/gemm.h"
#include "library/library.h"

namespace lowtide {

/// Null where rows make tiles enough, or oneDNN has no code for it. `adds`: operand 2.
std::unique_ptr<LibraryRoutine> make_dot_by_columns(const MatrixView& left, const MatrixView& right, ElementType result,
                                                    bool adds);

}  // namespace lowtide
