#include "nest/rebase.h"

#include <algorithm>

#include "nest/accesses.h"

namespace lowtide::engine {

std::vector<int64_t> rebase(Nest& nest) {
  struct Touched {
    int64_t least = INT64_MAX, greatest = -1;
  };
  std::vector<Touched> touched(nest.buffers.size());
  for (const Access& access : accesses(nest)) {
    Touched& t = touched[access.buffer];
    t.least = std::min(t.least, access.least);
    t.greatest = std::max(t.greatest, access.greatest);
  }
  std::vector<int64_t> first(nest.buffers.size(), 0);
  for (size_t b = 0; b < first.size(); ++b) {
    if (touched[b].least > touched[b].greatest) continue;
    first[b] = touched[b].least;
    nest.buffers[b].elements = touched[b].greatest - touched[b].least + 1;
  }
  for (Node& node : nest.nodes) {
    if (node.kind == NodeKind::kLoad) node.affine.constant -= first[node.buffer];
  }
  for (Store& store : nest.stores) store.index.constant -= first[store.buffer];
  return first;
}

}  // namespace lowtide::engine
