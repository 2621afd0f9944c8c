#pragma once
/// The rewrites that are applied to programs.

#include <string>
#include <vector>

#include "lowtide/error.h"
#include "lowtide/numerics.h"
#include "lowtide/visibility.h"

namespace lowtide {

struct PassInfo {
  std::string name;
  Numerics numerics = Numerics::kExact;
  std::string reason;  ///< why it is at its place in the pipeline
};

/// Passes in their order.
struct Pipeline {
  std::string purpose;  ///< "For handing on (opt)"
  std::vector<PassInfo> passes;
  /// For a terminal of 100 columns.
  LOWTIDE_PUBLIC std::string text() const;
};

/// The pipelines for handing a program on (the default of Session::rewrite), for planning and running it here, and for
/// running it in XLA.
LOWTIDE_PUBLIC std::vector<Pipeline> pipelines();

/// kUsage names the first that doesn't exist, and passes with similar names.
LOWTIDE_PUBLIC Result<void> check_passes(const std::vector<std::string>& names);

}  // namespace lowtide
