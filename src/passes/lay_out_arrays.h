#pragma once
/// Arguments and results that don't lie row by row, by the program's notes (ir/entry_notes.h), become row-major arrays
/// with the extents that they have in memory, so that all other code sees only row-major arrays.
///
///     x = f32[2,3] parameter(0)            "{0,1}"       p = f32[3,2] parameter(0)
///     ROOT r = f32[2,3] negate(x)          "{0,1}"  ==>  x = f32[2,3] transpose(p), dimensions={1,0}
///                                                        n = f32[2,3] negate(x)
///                                                        ROOT r = f32[3,2] transpose(n), dimensions={1,0}
///
/// Most of these transposes are read through, and adjacent ones cancel. An unspecified order ("auto") is row by row,
/// except for a result that is a transpose: it has the order of its operand, which computes and moves nothing. The
/// numbers of arguments and results stay the same; the notes of layouts are dropped. An argument whose result then has
/// other extents is donated, but to no particular result.
/// Requires: no tuples within tuples in the results.  Keeps: order.  Tests: tests/unit/lay_out_arrays_test.cpp

#include "ir/module.h"

namespace lowtide::engine {

/// The orders, minor to major, of all arrays among the arguments and results, with tuples flattened.
struct Orders {
  std::vector<Dims> arguments, results;
};

/// kUnsupported: a layout has tiles; kInput: a note isn't an order of the array's dimensions.
Result<Orders> lay_out_arrays(Module& module);

}  // namespace lowtide::engine
