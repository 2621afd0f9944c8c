#pragma once
/// The report on making a program fit, as data: the same that `lowtide fit --json` prints.

#include <optional>
#include <string>
#include <vector>

#include "lowtide/explanation.h"
#include "lowtide/numerics.h"
#include "lowtide/xla_account.h"

namespace lowtide {

/// One rewrite of the program, and how much it reduced the peak on top of those before it.
struct RewriteRow {
  std::string rule;  ///< a pass, "in place, order, packing", or "stream"
  std::string what;  ///< for a decision: as in the plan's file
  Numerics numerics = Numerics::kExact;
  int64_t bytes = 0;
  int64_t count = 0;
};

/// Something the user could change, with the peak that the plan would then have.
struct ChangeRow {
  std::string what;         ///< "donate argument 2 (f32[1024,1024])"
  std::string user_change;  ///< "jax.jit(..., donate_argnames=(\"state\",))"
  int64_t bytes = 0;        ///< reduction of the peak
  int64_t peak = 0;         ///< the peak after it
};

struct FitPoint {
  int64_t peak = 0;
  double seconds = 0;
};

/// The extent of a plan's check.
struct CheckedFit {
  enum class How : uint8_t { kNothing, kWhole, kSmall };
  struct Row {
    std::string decision;
    std::string as;  ///< in a small instantiation: with another tile
    bool exercised = true;
  };
  How how = How::kNothing;
  std::string extents;  ///< the small instantiation's: "2048 -> 16, 512 -> 12"
  std::string found;    ///< "3 results agree ...", or why nothing was compared
  std::vector<Row> rows;

  LOWTIDE_PUBLIC int64_t exercised() const;
  LOWTIDE_PUBLIC std::string sentence() const;  ///< for people
};

/// `ours` is the chosen plan; if none meets the limit, the tightest.
struct FitReport : PlanSummary {
  bool for_xla = false;               ///< sizes are a model of XLA's account
  std::vector<std::string> warnings;  ///< what a reader of the sizes should know
  std::string note;                   ///< the meaning of the sizes, if they aren't guaranteed
  std::optional<int64_t> limit;
  double most_time = 0;  ///< without a limit: times the free plan's, and that without streams; 0: any
  bool met = true;
  bool interrupted = false;  ///< before all plans were tried, or the chosen one was fully reported
  int64_t given_peak = 0, free_peak = 0;
  double seconds = 0, free_seconds = 0;  ///< modelled
  std::string machine;                   ///< the machine whose cost model was used
  int64_t machine_bytes = 0;             ///< its memory; 0: unknown
  std::vector<RewriteRow> rewrites;
  std::vector<ChangeRow> changes;      ///< only if the limit isn't met
  std::vector<std::string> in_source;  ///< the plan's recomputation, as changes of the user's source
  std::vector<FitPoint> frontier;
  int64_t plans = 0;
  std::optional<CheckedFit> checked;  ///< only if a check was requested
  std::optional<XlaAccounts> xla;     ///< XLA's own reports, only if requested

  /// As JSON, schema_version 1 (docs/schema/lowtide.schema.json).
  LOWTIDE_PUBLIC std::string json() const;
  /// For a terminal of 100 columns. utf8: false for plain ASCII.
  LOWTIDE_PUBLIC std::string text(bool utf8 = true) const;
};

}  // namespace lowtide
