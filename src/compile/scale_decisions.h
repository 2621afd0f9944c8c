#pragma once
/// The decisions of a plan, for the same program with other extents: tiles shrink with their dimensions.

#include "compile/planner.h"

namespace lowtide::engine {

struct ScaledDecision {
  Decision decision;  ///< for the other module, if it applies
  bool applies = true;
  std::shared_ptr<const Module> behind;  ///< the other module, with all streams up to this one
};

/// `decisions` are explicit (Planner::spelt) and belong to `from`; `to` plans the resized module. A stream includes the
/// same values (passes/stream/stream_alike.h), or, if names differ, those that it finds; its tile is chosen so that
/// there are several tiles, and a smaller last one if there was one. Streams that the resized module doesn't allow
/// don't apply; later ones are tried without them.
Result<std::vector<ScaledDecision>> scale_decisions(const Planner& from, const Planner& to, const Decisions& decisions);

}  // namespace lowtide::engine
