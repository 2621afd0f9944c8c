#pragma once
/// The explanation of a program as data: the same that `lowtide explain --json` prints. It holds text and numbers alone
/// and outlives module and session. Bytes are those of one device; steps count from 0 along the order in which the
/// program runs, bodies of loops laid out once.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/visibility.h"

namespace lowtide {

/// What a value is for: from structure first, then from the names JAX gives operations.
enum class Category : uint8_t {
  kParameter,
  kOptimiserState,
  kGradient,
  kSavedForBackward,
  kCollective,
  kLibraryScratch,
  kConstant,
  kResult,
  kTemporary,
};
LOWTIDE_PUBLIC const char* name_of(Category category);  ///< "saved for backward"

/// Where a value comes from in the user's program.
struct Origin {
  std::string op_name;      ///< as in the metadata; empty where nothing near the value has one
  std::string scope;        ///< the part of it a reader wants: "mlp/wi_0"
  std::string source;       ///< "linears.py:212"; empty where unknown
  std::string full_source;  ///< with the whole path
};

/// What a change in the user's source comes to when stock XLA compiles it: the module was edited so, and its account by
/// XLA's rules stands beside that of the module as it was.
struct SourceChange {
  std::string change;  ///< "jax.jit(..., donate_argnames=(\"state\",))"; empty: the edit has no name in the source
  int64_t peak_before = 0, peak_after = 0;  ///< by that account
  int64_t bytes() const { return peak_before - peak_after; }
};

/// A way to free a value's bytes that was planned on this very module: a decision of a plan, or an edit of the module.
struct Cure {
  std::string what;      ///< "stream over dimension 0 of %dot.7 in tiles of 64"
  int64_t bytes = 0;     ///< Lowtide's plan with it needs that much less than the free plan; 0: nothing, or no plan
  double more_time = 0;  ///< modelled, of the free plan's: 0.03 is 3 % more
  std::string decision;  ///< the line of a plan that says it
  std::optional<SourceChange> in_source;
};

/// An instruction by names that outlive the module.
struct ValueName {
  std::string computation, instruction;
};

enum class Fate : uint8_t { kDonated, kCouldBeDonated, kMustStay };
LOWTIDE_PUBLIC const char* name_of(Fate fate);  ///< "could be donated"

/// One buffer at the peak, or several alike.
struct PeakRow {
  std::string value;  ///< "%fusion.88{1}"
  std::string shape;  ///< "bf16[8,16,2048,8192]"
  int64_t bytes = 0;  ///< of all `count` together, padding included
  int64_t padding = 0;
  int64_t count = 1;
  int32_t born = 0, dies = 0;
  Category category = Category::kTemporary;
  std::optional<Fate> fate;  ///< of arguments
  Origin origin;
  std::string why_live;
  std::string in_free_plan;  ///< of a row of the program as given: whether the free plan has the like at its peak
  std::vector<Cure> cures;
  std::vector<std::string> values;  ///< names of every value the buffer holds, over its life
  std::vector<ValueName> made_by;   ///< what makes them
  // of a row that is one of XLA's allocations:
  int64_t allocation = -1;
  std::string kind;
  int64_t offset = 0;  ///< inside the allocation, of a value in `contents`
  bool live_at_peak = true;
  std::vector<PeakRow> contents;  ///< the values it holds over the program, those alive at the peak first
};

struct ArgumentRow {
  int64_t number = 0;
  std::string path;  ///< "state.params['decoder']['layers']"; the instruction's name where the tree is unknown
  std::string shape;
  std::string group;  ///< "params", "opt_state", "batch", ...
  int64_t bytes = 0;
  Category category = Category::kParameter;
  Fate fate = Fate::kMustStay;
  int64_t result = -1;  ///< the result that lives, or could live, in it
  std::string note;     ///< "result 4 has its shape"
};

struct ArgumentGroup {
  std::string name;
  int64_t bytes = 0, count = 0;
};

/// A row of the table by operation type: buffers at the peak by the operation that defines them.
struct OperationRow {
  std::string type;  ///< "loop_dus_fusion", "dot"
  int64_t bytes = 0;
  int64_t count = 0;  ///< buffers
  std::vector<std::string> names;
  std::string framework_op;  ///< of the largest
  std::string source;
};

/// A lower bound on the peak; no pointer into a module, which the report outlives.
struct LowerBound {
  int64_t bytes = 0;
  std::string reason;
  std::string instruction;  ///< the one that sets it; empty where none does
};

struct Sizes {
  int64_t arguments = 0, outputs = 0, alias = 0, temp = 0, load = 0, peak = 0;
};

struct Phase {
  std::string name;
  int32_t begin = 0, end = 0;  ///< [begin, end)
};

/// Memory over time: `bytes[s]` is arguments + outputs - alias + live arena bytes at step s.
struct Curve {
  std::vector<int64_t> bytes;
  int64_t base = 0;  ///< what is there at every step
  int32_t peak_step = 0;
  std::vector<Phase> phases;
};

/// A buffer as a rectangle of time and address.
struct TimelineBox {
  std::string label, detail;
  int64_t bytes = 0, offset = 0;
  int32_t born = 0, dies = 0;
  Category category = Category::kTemporary;
};

/// Of a plan, and of the module it is made for.
struct PlanSummary {
  std::string module;
  int64_t instructions = 0, kernels = 0;
  bool exact = false;                ///< every sum in its order
  bool before_partitioning = false;  ///< sizes are one device's, where shapes are those of all
  Sizes ours;
  LowerBound floor_order, floor_any;
  std::vector<PeakRow> at_peak;  ///< largest first
  double plan_seconds = 0;
  std::string refusal;  ///< why the plan can't be run here; empty: it can
};

/// What holds a program's memory at the peak, why, and what would free it. `ours` is the free plan: the one that is
/// taken without a limit.
struct Explanation : PlanSummary {
  std::string path;
  std::string platform;  ///< "XLA:GPU"; empty where nothing tells
  bool scheduled = false;
  int64_t devices = 1;  ///< bytes are those of one of them
  bool has_metadata = true;
  std::vector<std::string> others;  ///< other modules of the directory
  std::vector<std::string> warnings;

  Sizes given;  ///< as given
  std::optional<int64_t> xla_peak;
  std::map<int64_t, int64_t> other_spaces;
  int64_t padding = 0;

  std::vector<ArgumentRow> arguments;
  std::vector<ArgumentGroup> argument_groups;
  std::vector<PeakRow> input_at_peak;        ///< of `given`
  std::string peak_place, input_peak_place;  ///< "backward scan, %fusion.88"
  std::vector<OperationRow> by_operation;
  Curve curve;  ///< as given
  std::vector<TimelineBox> boxes;
  std::vector<std::string> next;  ///< commands worth running

  /// As JSON, schema_version 1 (docs/schema/lowtide.schema.json).
  LOWTIDE_PUBLIC std::string json() const;
  /// For a terminal of 100 columns. rows: of each table; 0: all. utf8: false for plain ASCII.
  LOWTIDE_PUBLIC std::string text(int64_t rows = 10, bool utf8 = true) const;
  /// One self-contained page, with buffers drawn over time and address (where they were asked for).
  LOWTIDE_PUBLIC std::string html() const;
  /// Memory over time as a Chrome trace (chrome://tracing, Perfetto); one step is one microsecond.
  LOWTIDE_PUBLIC std::string trace() const;
};

}  // namespace lowtide
