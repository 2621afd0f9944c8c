#pragma once
/// The rewrites that programs go through.

#include <string>
#include <vector>

#include "lowtide/error.h"
#include "lowtide/numerics.h"
#include "lowtide/visibility.h"

namespace lowtide {

struct PassInfo {
  std::string name;
  Numerics numerics = Numerics::kExact;
  std::string reason;  ///< why it stands where it stands
};

/// Passes in their order.
struct Pipeline {
  std::string purpose;  ///< "For handing on (opt)"
  std::vector<PassInfo> passes;
  /// For a terminal of 100 columns.
  LOWTIDE_PUBLIC std::string text() const;
};

/// For handing on (the one that Session::rewrite runs unless it is told others), for planning and running here, for
/// running in XLA.
LOWTIDE_PUBLIC std::vector<Pipeline> pipelines();

/// kUsage names the first that doesn't exist, and those that are near.
LOWTIDE_PUBLIC Result<void> check_passes(const std::vector<std::string>& names);

}  // namespace lowtide
