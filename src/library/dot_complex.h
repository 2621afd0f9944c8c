#pragma once
/// dot of complex matrices as one real product. A row-major complex matrix is a real one with twice the columns; with
/// each element b of the right matrix replaced by [[re, im], [-im, re]], the product is the complex one:
///
///     [re a, im a] . [[re b, im b], [-im b, re b]] = [re a re b - im a im b, re a im b + im a re b]

#include "library/gemm.h"
#include "library/library.h"

namespace lowtide::engine {

/// `adds`: adds operand 2. Null for other types, and for products that are too small to be worth the copy.
std::unique_ptr<LibraryRoutine> make_dot_complex(const MatrixView& left, const MatrixView& right, ElementType result,
                                                 bool adds);

}  // namespace lowtide::engine
