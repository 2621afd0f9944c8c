#include "ops/strided.h"

#include <algorithm>
#include <cstring>

namespace lowtide::engine {
namespace {

/// Calls f.operator()<Bytes>() with the size of an element, so that copying it is one move.
template <class F>
void dispatch_bytes(int bytes, F&& f) {
  switch (bytes) {
    case 1: return f.template operator()<1>();
    case 2: return f.template operator()<2>();
    case 4: return f.template operator()<4>();
    case 8: return f.template operator()<8>();
    default: return f.template operator()<16>();
  }
}

template <size_t Bytes>
void copy_row(std::byte* to, int64_t to_step, const std::byte* from, int64_t from_step, int64_t count) {
  constexpr auto kBytes = static_cast<int64_t>(Bytes);
  if (to_step == 1 && from_step == 1) {
    std::memcpy(to, from, static_cast<size_t>(count) * Bytes);
    return;
  }
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * to_step * kBytes, from + i * from_step * kBytes, Bytes);
}

/// Are all offsets of the walk inside an array of `size` elements?
bool lies_inside(const Dims& extents, const Dims& steps, int64_t start, int64_t size) {
  int64_t lowest = start, highest = start;
  for (size_t d = 0; d < extents.size(); ++d) {
    (steps[d] < 0 ? lowest : highest) += (extents[d] - 1) * steps[d];
  }
  return lowest >= 0 && highest < size;
}

}  // namespace

void copy_strided(const StridedCopy& copy, const Literal& from, Literal& to) {
  const int bytes = stored_bytes(to.shape().type);
  LT_ASSERT(stored_bytes(from.shape().type) == bytes, "elements of different sizes are copied");
  if (std::find(copy.extents.begin(), copy.extents.end(), 0) != copy.extents.end()) return;
  LT_ASSERT(lies_inside(copy.extents, copy.to_steps, copy.to_start, to.size()) &&
                lies_inside(copy.extents, copy.from_steps, copy.from_start, from.size()),
            "a strided copy leaves " + to_string(from.shape()) + " or " + to_string(to.shape()));
  const int64_t to_step = copy.extents.empty() ? 1 : copy.to_steps.back();
  const int64_t from_step = copy.extents.empty() ? 1 : copy.from_steps.back();
  std::byte* const to_bytes = to.bytes().data();
  const std::byte* const from_bytes = from.bytes().data();
  dispatch_bytes(bytes, [&]<size_t Bytes>() {
    walk_rows(copy, [&](int64_t to_at, int64_t from_at, int64_t count) {
      copy_row<Bytes>(to_bytes + to_at * bytes, to_step, from_bytes + from_at * bytes, from_step, count);
    });
  });
}

void copy_into(const Literal& part, Literal& whole, const Dims& starts) {
  const Dims steps = row_major_strides(whole.shape().dims);
  StridedCopy copy{part.shape().dims, steps, row_major_strides(part.shape().dims)};
  for (size_t d = 0; d < starts.size(); ++d) copy.to_start += starts[d] * steps[d];
  copy_strided(copy, part, whole);
}

void copy_out_of(const Literal& whole, Literal& part, const Dims& starts, const Dims& strides) {
  const Dims steps = row_major_strides(whole.shape().dims);
  StridedCopy copy{part.shape().dims, row_major_strides(part.shape().dims), steps};
  for (size_t d = 0; d < starts.size(); ++d) {
    copy.from_start += starts[d] * steps[d];
    copy.from_steps[d] = part.shape().dims[d] > 1 ? steps[d] * strides[d] : 0;
  }
  copy_strided(copy, whole, part);
}

void fill(Literal& array, const Literal& scalar) { copy_strided({{array.size()}, {1}, {0}}, scalar, array); }

}  // namespace lowtide::engine
