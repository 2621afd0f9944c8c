#pragma once
/// Reads the text of shapes: `f32[8,<=16]{1,0:T(8,128)S(1)}`, `(s32[], token[])`, `b(f32[4])`.

#include "ir/shape.h"
#include "text/hlo/scanner.h"

namespace lowtide::engine {

/// The meaning of a `{` after a shape: it opens its layout or the body of a computation.
enum class BraceBehind {
  kLayout,        ///< always a layout
  kLayoutOrBody,  ///< a layout when an integer or `:` follows
};

Result<Shape> read_shape(Scanner& scanner, BraceBehind brace = BraceBehind::kLayout);

/// Does a shape begin here: a type name and `[`, a tuple, or a buffer?
bool shape_follows(Scanner& scanner);

}  // namespace lowtide::engine
