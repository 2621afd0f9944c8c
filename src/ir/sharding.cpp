#include "ir/sharding.h"

#include <numeric>

namespace lowtide::engine {

int64_t DeviceList::count() const {
  if (reshape.empty()) return static_cast<int64_t>(listed.size());
  return std::accumulate(reshape.begin(), reshape.end(), int64_t{1}, std::multiplies<>());
}

std::vector<int64_t> DeviceList::ids() const {
  if (reshape.empty()) return listed;
  Dims order = transpose;
  if (order.empty()) {
    order.resize(reshape.size());
    std::iota(order.begin(), order.end(), 0);
  }
  Dims stride(reshape.size(), 1);
  for (size_t d = reshape.size() - 1; d > 0; --d) stride[d - 1] = stride[d] * reshape[d];
  std::vector<int64_t> ids;
  Dims index(reshape.size(), 0);
  for (int64_t n = count(); n > 0; --n) {
    int64_t id = 0;
    for (size_t d = 0; d < order.size(); ++d) id += index[d] * stride[order[d]];
    ids.push_back(id);
    for (size_t d = order.size(); d-- > 0;) {
      if (++index[d] < reshape[order[d]]) break;
      index[d] = 0;
    }
  }
  return ids;
}

int64_t Sharding::parts_of(int64_t dimension) const {
  const auto data_dims = static_cast<int64_t>(tile.size() - subgroups.size());
  return kind == ShardingKind::kTiled && dimension < data_dims ? tile[dimension] : 1;
}

int64_t Sharding::device_count() const {
  if (kind == ShardingKind::kMaximal) return device + 1;
  if (kind == ShardingKind::kTiled) return devices.count();
  int64_t most = 0;
  for (const Sharding& part : parts) most = std::max(most, part.device_count());
  return most;
}

int64_t sharded_bytes(const Shape& array, const Sharding& sharding) {
  if (sharding.kind != ShardingKind::kTiled) return padded_bytes(array);
  Shape part = array;
  for (int64_t d = 0; d < array.rank(); ++d) {
    const int64_t parts = sharding.parts_of(d);
    int64_t& extent = part.dims[d];
    if (parts > 0) extent = (extent + parts - 1) / parts;
  }
  return padded_bytes(part);
}

}  // namespace lowtide::engine
