#include "ir/shape_leaves.h"

#include <algorithm>

namespace lowtide::engine {

int64_t leaf_count(const Shape& shape) {
  if (!shape.is_tuple()) return 1;
  int64_t count = 0;
  for (const Shape& element : shape.elements) count = std::min(kMostLeaves, count + leaf_count(element));
  return count;
}

const Shape* leaf_shape(const Shape& shape, int64_t leaf) {
  const Shape* at = &shape;
  while (at->is_tuple()) {
    const Shape* next = nullptr;
    for (const Shape& element : at->elements) {
      const int64_t count = leaf_count(element);
      if (leaf < count) {
        next = &element;
        break;
      }
      leaf -= count;
    }
    if (!next) return nullptr;
    at = next;
  }
  return leaf == 0 ? at : nullptr;
}

ShapeIndex leaf_index(const Shape& shape, int64_t leaf) {
  ShapeIndex index;
  const Shape* at = &shape;
  while (at->is_tuple()) {
    size_t e = 0;
    for (; e < at->elements.size(); ++e) {
      const int64_t count = leaf_count(at->elements[e]);
      if (leaf < count) break;
      leaf -= count;
    }
    if (e == at->elements.size()) break;
    index.push_back(static_cast<int64_t>(e));
    at = &at->elements[e];
  }
  return index;
}

int64_t leaf_offset(const Shape& tuple, int64_t element) {
  int64_t offset = 0;
  for (int64_t e = 0; e < element && e < static_cast<int64_t>(tuple.elements.size()); ++e) {
    offset = std::min(kMostLeaves, offset + leaf_count(tuple.elements[e]));
  }
  return offset;
}

bool leaf_range(const Shape& shape, const ShapeIndex& index, int64_t& first, int64_t& count) {
  const Shape* at = &shape;
  first = 0;
  for (const int64_t i : index) {
    if (!at->is_tuple() || i < 0 || i >= static_cast<int64_t>(at->elements.size())) return false;
    first += leaf_offset(*at, i);
    at = &at->elements[i];
  }
  count = leaf_count(*at);
  return true;
}

}  // namespace lowtide::engine
