#include "codegen/side_by_side.h"

#include <algorithm>

#include "codegen/short_steps.h"

namespace lowtide::engine {

std::vector<int32_t> side_by_side(const Nest& nest, std::span<const Item> items) {
  const auto store = [&](int32_t id) -> const Store& { return nest.stores[id]; };
  if (items.size() < 2 || items[1].kind != Item::kStore) return {};  // most stores have no neighbour
  std::vector<int32_t> found;
  for (const Item& item : items) {
    if (item.kind != Item::kStore) break;
    const Store &first = store(found.empty() ? item.id : found[0]), &next = store(item.id);
    const bool is_beside = next.buffer == first.buffer && next.guard == kNoId && next.index.terms == first.index.terms;
    if (!is_beside) break;
    found.push_back(item.id);
  }
  std::ranges::sort(found, {}, [&](int32_t id) { return store(id).index.constant; });
  for (size_t k = 1; k < found.size(); ++k) {
    if (store(found[k]).index.constant != store(found[k - 1]).index.constant + 1) return {};
  }
  if (!is_short_step(static_cast<int64_t>(found.size()))) return {};
  return found;
}

}  // namespace lowtide::engine
