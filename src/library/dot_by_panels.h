#pragma once
/// dot by packed panels: of any types, and with sums in order.

#include "library/gemm.h"
#include "library/library.h"

namespace lowtide::engine {

/// `adds`: adds operand 2, which may be the result. Types as in PanelGemm::supports.
std::unique_ptr<LibraryRoutine> make_dot_by_panels(const MatrixView& left, const MatrixView& right, ElementType result,
                                                   bool adds, Joining joining);

}  // namespace lowtide::engine
