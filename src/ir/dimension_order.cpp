#include "ir/dimension_order.h"

#include <algorithm>
#include <functional>

namespace lowtide::engine {

Dims row_by_row(size_t rank) {
  Dims order;
  for (size_t d = rank; d-- > 0;) order.push_back(static_cast<int64_t>(d));
  return order;
}

bool is_row_by_row(const Dims& order) { return std::ranges::is_sorted(order, std::greater<>()); }

bool is_order(const Dims& order, size_t rank) {
  return order.size() == rank && std::ranges::is_permutation(order, row_by_row(rank));
}

Dims entries_at(const Dims& positions, const Dims& list) {
  Dims entries;
  for (const int64_t position : positions) entries.push_back(list[position]);
  return entries;
}

Dims inverse_of(const Dims& order) {
  Dims places(order.size());
  for (size_t i = 0; i < order.size(); ++i) places[order[i]] = static_cast<int64_t>(i);
  return places;
}

Dims extents_in_memory(const Dims& dims, const Dims& order) {
  Dims extents;
  for (size_t i = order.size(); i-- > 0;) extents.push_back(dims[order[i]]);
  return extents;
}

Dims reversed(Dims order) {
  std::ranges::reverse(order);
  return order;
}

}  // namespace lowtide::engine
