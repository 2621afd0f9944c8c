#pragma once
/// left [m, k] times right [k, n] in tiles of the result; each tile copies its operands, one block of depth at a time.
/// For few rows times a matrix of weights, where tiles of whole rows would be too few for the threads; and for bf16
/// where this machine multiplies f32 faster: then only these copies are f32, never a whole array.

#include <memory>

#include "library/gemm.h"
#include "library/library.h"

namespace lowtide::engine {

/// Null if neither case applies, or oneDNN has no code for it. `adds`: adds operand 2.
std::unique_ptr<LibraryRoutine> make_dot_by_tiles(const MatrixView& left, const MatrixView& right, ElementType result,
                                                  bool adds);

}  // namespace lowtide::engine
