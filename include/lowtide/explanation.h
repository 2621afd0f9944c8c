#pragma once
/// The explanation of a program as data: the same that `lowtide explain --json` prints. It holds only text and numbers
/// and outlives module and session. Bytes are per device; steps count from 0 in execution order, with each loop body
/// laid out once.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/visibility.h"

namespace lowtide {

/// The purpose of a value, inferred first from the program's structure, then from JAX's names of operations.
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
  std::string op_name;      ///< as in the metadata; empty if no operation near the value has one
  std::string scope;        ///< the user's part of op_name: "mlp/wi_0"
  std::string source;       ///< "linears.py:212"; empty if unknown
  std::string full_source;  ///< the same with the whole path
};

/// The effect of a change in the user's source when stock XLA compiles it: the module's account by XLA's rules before
/// and after the corresponding edit.
struct SourceChange {
  std::string change;  ///< "jax.jit(..., donate_argnames=(\"state\",))"; empty: the edit has no name in the source
  int64_t peak_before = 0, peak_after = 0;  ///< by that account
  int64_t bytes() const { return peak_before - peak_after; }
};

/// A way to free a value's bytes, confirmed by planning this module with it: a plan's decision, or an edit of the
/// module.
struct Cure {
  std::string what;      ///< "stream over dimension 0 of %dot.7 in tiles of 64"
  int64_t bytes = 0;     ///< reduction of Lowtide's peak relative to the free plan; 0: none, or there is no plan
  double more_time = 0;  ///< modelled, as a share of the free plan's: 0.03 is 3 % more
  std::string decision;  ///< the corresponding line in a plan's text
  std::optional<SourceChange> in_source;
};

/// An instruction, by names that outlive the module.
struct ValueName {
  std::string computation, instruction;
};

enum class Fate : uint8_t { kDonated, kCouldBeDonated, kMustStay };
LOWTIDE_PUBLIC const char* name_of(Fate fate);  ///< "could be donated"

/// One buffer at the peak, or several equal ones.
struct PeakRow {
  std::string value;  ///< "%fusion.88{1}"
  std::string shape;  ///< "bf16[8,16,2048,8192]"
  int64_t bytes = 0;  ///< the sum over all `count`, padding included
  int64_t padding = 0;
  int64_t count = 1;
  int32_t born = 0, dies = 0;
  Category category = Category::kTemporary;
  std::optional<Fate> fate;  ///< only for arguments
  Origin origin;
  std::string why_live;
  std::string in_free_plan;  ///< in rows of the program as given: whether the free plan has a like buffer at its peak
  std::vector<Cure> cures;
  std::vector<std::string> values;  ///< names of all values the buffer holds during its lifetime
  std::vector<ValueName> made_by;   ///< the instructions that produce them
  // If the row is one of XLA's allocations:
  int64_t allocation = -1;
  std::string kind;
  int64_t offset = 0;  ///< offset in the allocation, for a value in `contents`
  bool live_at_peak = true;
  std::vector<PeakRow> contents;  ///< the values it holds during the program, those alive at the peak first
};

struct ArgumentRow {
  int64_t number = 0;
  std::string path;  ///< "state.params['decoder']['layers']"; the instruction's name if the tree is unknown
  std::string shape;
  std::string group;  ///< "params", "opt_state", "batch", ...
  int64_t bytes = 0;
  Category category = Category::kParameter;
  Fate fate = Fate::kMustStay;
  int64_t result = -1;  ///< the result that aliases it, or could
  std::string note;     ///< "result 4 has its shape"
};

struct ArgumentGroup {
  std::string name;
  int64_t bytes = 0, count = 0;
};

/// A row of the table by operation type: buffers at the peak, grouped by the operation that defines them.
struct OperationRow {
  std::string type;  ///< "loop_dus_fusion", "dot"
  int64_t bytes = 0;
  int64_t count = 0;  ///< buffers
  std::vector<std::string> names;
  std::string framework_op;  ///< the largest buffer's
  std::string source;
};

/// A lower bound on the peak; it holds no pointers into the module.
struct LowerBound {
  int64_t bytes = 0;
  std::string reason;
  std::string instruction;  ///< the instruction that determines it; empty if none does
};

struct Sizes {
  int64_t arguments = 0, outputs = 0, alias = 0, temp = 0, load = 0, peak = 0;
  int64_t host = 0;  ///< in the host's memory (`pinned_host`): arguments, results and temporaries; no part of the peak
};

struct Phase {
  std::string name;
  int32_t begin = 0, end = 0;  ///< [begin, end)
};

/// Memory over time: `bytes[s]` is arguments + outputs - alias + live arena bytes at step s.
struct Curve {
  std::vector<int64_t> bytes;
  int64_t base = 0;  ///< bytes that are there at every step
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

/// A summary of a plan and of its module.
struct PlanSummary {
  std::string module;
  int64_t instructions = 0, kernels = 0;
  bool exact = false;                ///< every sum is in its original order
  bool before_partitioning = false;  ///< sizes are per device, shapes are of the whole program
  Sizes ours;
  LowerBound floor_order, floor_any;
  std::vector<PeakRow> at_peak;  ///< largest first
  double plan_seconds = 0;
  std::string refusal;  ///< the reason why the plan can't be run here; empty if it can
};

/// What holds a program's memory at the peak, why, and what would free it. `ours` is the free plan: the one that is
/// chosen without a limit.
struct Explanation : PlanSummary {
  std::string path;
  std::string platform;  ///< "XLA:GPU"; empty if unknown
  bool scheduled = false;
  int64_t devices = 1;  ///< all bytes are per device
  bool has_metadata = true;
  std::vector<std::string> others;  ///< other modules in the directory
  std::vector<std::string> warnings;

  Sizes given;  ///< of the program as given
  std::optional<int64_t> xla_peak;
  std::map<int64_t, int64_t> other_spaces;
  int64_t padding = 0;

  std::vector<ArgumentRow> arguments;
  std::vector<ArgumentGroup> argument_groups;
  std::vector<PeakRow> input_at_peak;        ///< rows of `given`
  std::string peak_place, input_peak_place;  ///< "backward scan, %fusion.88"
  std::vector<OperationRow> by_operation;
  Curve curve;  ///< of the program as given
  std::vector<TimelineBox> boxes;
  std::vector<std::string> next;  ///< commands worth running

  /// As JSON, schema_version 1 (docs/schema/lowtide.schema.json).
  LOWTIDE_PUBLIC std::string json() const;
  /// For a terminal of 100 columns. rows: the number of rows per table; 0: all. utf8: false for plain ASCII.
  LOWTIDE_PUBLIC std::string text(int64_t rows = 10, bool utf8 = true) const;
  /// One self-contained page, with buffers drawn over time and address (if they were asked for).
  LOWTIDE_PUBLIC std::string html() const;
  /// Memory over time as a Chrome trace (chrome://tracing, Perfetto); one step is one microsecond.
  LOWTIDE_PUBLIC std::string trace() const;
};

}  // namespace lowtide
