#include "region/cost.h"

#include "region/footprint.h"

namespace lowtide::engine {

int32_t code_size(const Region& region) {
  int32_t size = 0;
  for (const Instruction* op : region.ops) size += code_size(*op);
  return size;
}

double kernel_ns(const Region& region, const Cost& cost) {
  const Footprint f = footprint(region, cost);
  return cost.kernel_ns({f.arithmetic_ns, static_cast<double>(f.bytes_read + f.bytes_written)});
}

}  // namespace lowtide::engine
