#include "ledger.h"

namespace lowtide::pjrt {

void Ledger::take(int64_t bytes) {
  const int64_t now = in_use += bytes;
  ++allocations;
  for (int64_t before = peak; before < now && !peak.compare_exchange_weak(before, now);) continue;
  for (int64_t before = largest; before < bytes && !largest.compare_exchange_weak(before, bytes);) continue;
}

}  // namespace lowtide::pjrt
