#pragma once
/// Products of matrices of any element type, with strides: packed panels, sums in registers. It serves what oneDNN
/// doesn't: f64, integers, complex numbers, narrow floats, and machines without AVX-512.

#include "ir/element_type.h"
#include "library/panels.h"
#include "library/strided.h"

namespace lowtide::engine {

/// One operand: element (row, column) of matrix b at batch.offset(b) + rows.offset(row) + columns.offset(column).
struct MatrixView {
  ElementType type = ElementType::kF32;
  StridedGroup batch, rows, columns;
};

/// left [batch, m, k] times right [batch, k, n] into a row-major result [batch, m, n].
class PanelGemm {
 public:
  PanelGemm(MatrixView left, MatrixView right, ElementType result);
  int64_t scratch_bytes() const { return lanes_.scratch_bytes(); }
  /// `adds`: adds to the result's contents. kInOrder: adds terms one after another, in sums of f32 or wider.
  void run(const void* left, const void* right, void* result, void* scratch, ThreadPool& pool, bool adds = false,
           Joining joining = Joining::kAsPart) const;

  /// Does this class compute products of these types, with sums rounded once? Operands must convert exactly to the
  /// result's type.
  static bool supports(ElementType left, ElementType right, ElementType result);

 private:
  template <class S>
  void run_as(const void* left, const void* right, void* result, void* scratch, ThreadPool& pool, bool adds,
              Joining joining) const;

  MatrixView left_, right_;
  ElementType result_;
  PanelTiles tiles_;
  int64_t matrices_ = 1;  ///< per task
  /// Is the transposed product computed, with the operands exchanged, so that the larger of them is read in place?
  bool turned_ = false;
  Lanes lanes_;
};

}  // namespace lowtide::engine
