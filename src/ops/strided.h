#pragma once
/// Copies between arrays along affine index maps, for broadcast, transpose, slice, pad and gather.

#include <span>

#include "ir/literal.h"
#include "ops/index_space.h"

namespace lowtide::engine {

/// For every index i within extents: to[to_start + sum i_d to_step_d] = from[from_start + sum i_d from_step_d],
/// in elements. Steps may be zero or negative.
struct StridedCopy {
  Dims extents;
  Dims to_steps, from_steps;
  int64_t to_start = 0, from_start = 0;
};

/// Calls row(to, from, count) for every row of the innermost dimension, with the offsets of its first element;
/// neighbours within a row are the last step apart.
template <class F>
void walk_rows(const StridedCopy& copy, F&& row) {
  for (const int64_t extent : copy.extents) {
    if (extent == 0) return;
  }
  const size_t outer = copy.extents.empty() ? 0 : copy.extents.size() - 1;
  const int64_t count = copy.extents.empty() ? 1 : copy.extents.back();
  Dims index(outer, 0);
  int64_t to = copy.to_start, from = copy.from_start;
  while (true) {
    row(to, from, count);
    size_t d = outer;
    while (true) {
      if (d == 0) return;
      --d;
      to += copy.to_steps[d];
      from += copy.from_steps[d];
      if (++index[d] < copy.extents[d]) break;
      to -= copy.to_steps[d] * copy.extents[d];
      from -= copy.from_steps[d] * copy.extents[d];
      index[d] = 0;
    }
  }
}

/// `from` and `to` have elements of the same size in bytes; every index must be inside the arrays.
void copy_strided(const StridedCopy& copy, const Literal& from, Literal& to);

/// Copies all of `part` into `whole`, with its first element at index `starts`.
void copy_into(const Literal& part, Literal& whole, const Dims& starts);
/// Fills `part` with the elements of `whole` from `starts` on, `strides` apart.
void copy_out_of(const Literal& whole, Literal& part, const Dims& starts, const Dims& strides);

/// Sets every element of `array` to the one element of `scalar`, which has the same size in bytes.
void fill(Literal& array, const Literal& scalar);

}  // namespace lowtide::engine
