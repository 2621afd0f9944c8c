#pragma once
/// dot of f32, bf16 and 8-bit matrices (summed in s32) in tiles of rows, each a call of oneDNN.

#include "library/gemm.h"
#include "library/library.h"

namespace lowtide::engine {

/// `adds`: adds operand 2, which may be the result. Null if the shapes are too small to be worth a call, or oneDNN has
/// no good code for them here.
std::unique_ptr<LibraryRoutine> make_dot_by_onednn(const MatrixView& left, const MatrixView& right, ElementType result,
                                                   bool adds);

}  // namespace lowtide::engine
