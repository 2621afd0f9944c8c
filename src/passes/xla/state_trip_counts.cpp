#include "passes/xla/state_trip_counts.h"

#include <fmt/format.h>

#include "analysis/trip_count.h"
#include "ops/updates_taken.h"
#include "passes/stream/stream_loop.h"

namespace lowtide::engine {

Result<PassResult> state_trip_counts(Module& module) {
  PassResult result;
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      if (drop_updates_taken(*i)) result.changed = true;
      if (i->opcode != Opcode::kWhile) continue;
      if (i->frontend_attributes == kTilesAttribute) {
        i->frontend_attributes.clear();
        result.changed = true;
      }
      const std::optional<TripCount> trips = trip_count(*i);
      if (!trips || !i->backend_config.empty()) continue;
      i->backend_config = fmt::format(R"({{"known_trip_count":{{"n":"{}"}}}})", trips->trips);
      result.changed = true;
      ++result.count;
    }
  }
  result.note = fmt::format("trips of {} loops written down", result.count);
  return result;
}

}  // namespace lowtide::engine
