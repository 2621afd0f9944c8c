#pragma once
/// What making a program fit took, as data: the same that `lowtide fit --json` prints.

#include <optional>
#include <string>
#include <vector>

#include "lowtide/explanation.h"
#include "lowtide/numerics.h"
#include "lowtide/xla_account.h"

namespace lowtide {

/// What was done to the program, and what that saved of the peak when it was done, after those before it.
struct RewriteRow {
  std::string rule;  ///< a pass, "in place, order, packing", or "stream"
  std::string what;  ///< of a decision: as the plan's file says it
  Numerics numerics = Numerics::kExact;
  int64_t bytes = 0;
  int64_t count = 0;
};

/// What the user could change, with the peak that the plan would then have.
struct ChangeRow {
  std::string what;         ///< "donate argument 2 (f32[1024,1024])"
  std::string user_change;  ///< "jax.jit(..., donate_argnames=(\"state\",))"
  int64_t bytes = 0;        ///< less peak
  int64_t peak = 0;         ///< what is left of it
};

struct FitPoint {
  int64_t peak = 0;
  double seconds = 0;
};

/// What a check of a plan compared.
struct CheckedFit {
  enum class How : uint8_t { kNothing, kWhole, kSmall };
  struct Row {
    std::string decision;
    std::string as;  ///< of a small instantiation: with another tile
    bool exercised = true;
  };
  How how = How::kNothing;
  std::string extents;  ///< of a small instantiation: "2048 -> 16, 512 -> 12"
  std::string found;    ///< "3 results agree ...", or why nothing was compared
  std::vector<Row> rows;

  LOWTIDE_PUBLIC int64_t exercised() const;
  LOWTIDE_PUBLIC std::string sentence() const;  ///< for people
};

/// `ours` is the plan chosen, or the tightest.
struct FitReport : PlanSummary {
  bool for_xla = false;               ///< sizes are a model of XLA's account
  std::vector<std::string> warnings;  ///< what a reader of the figures must know
  std::string note;                   ///< what these sizes are, where they aren't promises
  std::optional<int64_t> limit;
  bool met = true;
  bool interrupted = false;  ///< before all plans were tried, or all was said of the one chosen
  int64_t given_peak = 0, free_peak = 0;
  double seconds = 0, free_seconds = 0;  ///< modelled
  std::string machine;                   ///< at whose prices
  int64_t machine_bytes = 0;             ///< of its memory; 0: nobody says
  std::vector<RewriteRow> rewrites;
  std::vector<ChangeRow> changes;      ///< where the limit isn't met
  std::vector<std::string> in_source;  ///< what the plan makes again, as a change of the user's source
  std::vector<FitPoint> frontier;
  int64_t plans = 0;
  std::optional<CheckedFit> checked;  ///< where it was asked for
  std::optional<XlaAccounts> xla;     ///< what XLA says of it, where it was asked

  /// As JSON, schema_version 1 (docs/schema/lowtide.schema.json).
  LOWTIDE_PUBLIC std::string json() const;
  /// For a terminal of 100 columns. utf8: false for plain ASCII.
  LOWTIDE_PUBLIC std::string text(bool utf8 = true) const;
};

}  // namespace lowtide
