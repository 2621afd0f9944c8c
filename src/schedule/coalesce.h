#pragma once
/// Which values share bytes: first where this saves copies (results in donated arguments, loop carries, updates in
/// place), then results over operands with their last use there. Like register coalescing, with interference on the
/// timeline.

#include <map>
#include <string>

#include "schedule/in_place.h"
#include "schedule/live_ranges.h"

namespace lowtide::engine {

/// Values in the same bytes, one after another or in place.
struct ValueClass {
  std::vector<ValueId> values;
  int64_t bytes = 0;
  int32_t argument = kNoId, output = kNoId;  ///< the leaf whose memory this is; kNoId: none
  bool donated = false;                      ///< of an argument
  bool constant = false;
  bool in_host = false;  ///< in the host's memory
};

struct Classes {
  std::vector<ValueClass> all;                               ///< only classes that have values
  std::vector<int32_t> of;                                   ///< value -> class
  std::map<std::pair<ValueId, ValueId>, std::string> apart;  ///< (from, to) of moves and updates that need a copy: why
};

struct Donations {
  std::vector<bool> donated;                ///< by argument leaf
  std::vector<int32_t> argument_of_output;  ///< by result leaf; kNoId: the result has its own memory
};
Donations find_donations(const Module& module, const Partitioning& sizes);

/// ways: values that are still separate after the first may share bytes in the others.
Classes coalesce(const Flow& flow, ValueTable& values, LiveRanges& live, const Donations& donations, InPlace& in_place,
                 InPlaceWays ways);

}  // namespace lowtide::engine
