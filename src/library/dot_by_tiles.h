#pragma once
/// left [m, k] times right [k, n] in tiles of the result, each with copies of what it multiplies, block of depth after
/// block of depth. For few rows times a matrix of weights, which make too few tiles of whole rows for the threads; and
/// for bf16 where this machine multiplies f32 faster: the copies are then f32, and no array ever is.

#include <memory>

#include "library/gemm.h"
#include "library/library.h"

namespace lowtide::engine {

/// Null where neither is so, or oneDNN has no code for it. `adds`: operand 2.
std::unique_ptr<LibraryRoutine> make_dot_by_tiles(const MatrixView& left, const MatrixView& right, ElementType result,
                                                  bool adds);

}  // namespace lowtide::engine
