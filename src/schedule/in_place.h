#pragma once
/// May a step write one of its results over one of its operands?

#include <unordered_map>

#include "schedule/flow.h"

namespace lowtide {

class InPlace {
 public:
  InPlace(const Flow& flow, const Values& values) : flow_(flow), values_(values) {}
  /// `from` is read by the step, and by nobody later; `to` is made by it; both have the same bytes.
  bool may(Step step, ValueId from, ValueId to);

 private:
  bool reads_apart(const FlowStep& step, ValueId from, ValueId to);
  bool region_may(const FlowStep& step, ValueId from, ValueId to);
  const Flow& flow_;
  const Values& values_;
  std::unordered_map<const Region*, std::vector<bool>> in_step_;  ///< inputs_read_in_step
};

}  // namespace lowtide
