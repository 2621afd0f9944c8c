#pragma once
/// May a step write one of its results over one of its operands?

#include <map>

#include "schedule/flow.h"
#include "schedule/nest_cache.h"
#include "schedule/program.h"

namespace lowtide::engine {

class InPlace {
 public:
  InPlace(const Flow& flow, NestCache& nests) : flow_(flow), nests_(nests) {}
  /// From now on results may also lie over operands in these ways.
  void allow(InPlaceWays ways) { ways_ = ways; }
  /// `from` has its last use in the step, which computes `to`; both have the same size.
  bool may(Step step, ValueId from, ValueId to);
  /// Does this step compute `to` by an update, so that most bytes stay unchanged?
  bool updates(Step step, ValueId to) const;
  /// Does `reader` read of `from` only what the update that makes `to` in step `update` doesn't write?
  bool reads_beside(Step reader, ValueId from, Step update, ValueId to) const;

 private:
  bool library_may(const FlowStep& step, ValueId from, ValueId to) const;
  bool reads_apart(const FlowStep& step, ValueId from, ValueId to) const;
  bool region_may(const FlowStep& step, ValueId from, ValueId to);
  bool strips_may(const FlowStep& step, ValueId from, ValueId to);

  const Flow& flow_;
  NestCache& nests_;
  InPlaceWays ways_ = InPlaceWays::kKernels;
  std::map<std::tuple<const Work*, ValueId, ValueId>, bool> strips_;  ///< what strips_may() said
};

}  // namespace lowtide::engine
