#pragma once
/// A plan's decisions beyond the pipeline's defaults: a list that can be searched for, saved as text and replayed.

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"
#include "ir/module.h"
#include "passes/recompute/recompute.h"
#include "passes/recompute/save_every.h"
#include "passes/stream/stream.h"
#include "plan/packings.h"
#include "schedule/program.h"

namespace lowtide::engine {

/// A pass of the pipeline that is left out.
struct WithoutPass {
  std::string pass;
  bool operator==(const WithoutPass&) const = default;
};

/// The passes that make streams by default; a plan's own streams follow the last of them.
inline constexpr std::array<std::string_view, 2> kStreaming = {"stream-windows", "stream-slices"};

/// The price of a byte of memory in time: the higher, the more is recomputed where it is read.
struct PriceOfMemory {
  double ns_per_byte = 0;
  bool operator==(const PriceOfMemory&) const = default;
};

/// Orders tried by local improvement.
struct SearchSteps {
  int64_t steps = 0;
  bool operator==(const SearchSteps&) const = default;
};

/// Operands whose last use is their transpose or reversal are moved in place, though it takes longer.
struct Rearrange {
  bool operator==(const Rearrange&) const = default;
};

/// Values that are live at the peak and read later are recomputed if that costs less than keeping them, at this
/// price (passes/recompute/recompute.h): before all streams or, if listed after some, among the values that these have
/// left.
struct Recompute {
  RecomputePrice price;
  bool operator==(const Recompute&) const = default;
};

/// Loops save carried values for later loops only every k iterations, and recompute those in between
/// (passes/recompute/save_every.h).
struct SaveEvery {
  Grouping grouping;
  bool operator==(const SaveEvery&) const = default;
};

/// Values that are read again only late, at most `count` of them, are kept in the host's memory until then
/// (passes/recompute/offload.h).
struct Offload {
  int64_t count = 0;
  bool operator==(const Offload&) const = default;
};

/// Loop-invariant values that take long to compute are computed before their loop
/// (passes/rules/hoist_loop_invariants.h).
struct HoistLoopInvariants {
  bool operator==(const HoistLoopInvariants&) const = default;
};

/// Arrays are updated in the loops that compute their updates (passes/rules/update_where_it_is_made.h).
struct UpdateInLoops {
  bool operator==(const UpdateInLoops&) const = default;
};

/// The buffers' offsets of one packing problem, so that a replayed plan needn't search for them.
struct Packing {
  KnownPlacement known;
  bool operator==(const Packing&) const = default;
};

/// The order and the way in which values share memory, recorded for replaying.
struct TakeOrder {
  OrderChoice choice;
  bool operator==(const TakeOrder&) const = default;
};

using Decision = std::variant<StreamDecision, WithoutPass, PriceOfMemory, SearchSteps, Rearrange, Recompute, SaveEvery,
                              Offload, HoistLoopInvariants, UpdateInLoops, Packing, TakeOrder>;
/// Streams in the order in which they are made; other decisions may be anywhere.
using Decisions = std::vector<Decision>;

template <class Kind>
bool has(const Decisions& decisions) {
  return std::ranges::any_of(decisions, [](const Decision& d) { return std::holds_alternative<Kind>(d); });
}

/// Does it take effect before all streams, unless it is a `recompute` listed after one?
bool comes_before_streams(const Decision& decision);

/// How many decisions precede the first stream: all, if there is none.
size_t first_stream(const Decisions& decisions);

/// Leaves out the passes that make streams by default.
Decisions without_streams();

/// One line: `stream main s dimension=1 tile=64`, `without stream-slices`, `price-of-memory 3`, `search-steps 8000`,
/// `rearrange`, `recompute 0.5 in-room=2`, `hoist-loop-invariants`, `save-every 8`, `offload 4`,
/// `update-in-loops`, `packing HASH HEIGHT OFFSET...`, `order NUMBER kernels|strips|moves`.
std::string to_string(const Decision& decision);

/// A plan's file: a line with the version, one that names the module and its hash, `exact` if Module::sums_in_order,
/// then a decision per line.
std::string print_plan(const Module& module, const Decisions& decisions);
struct PlanFile {
  Decisions decisions;
  bool exact = false;  ///< of a module with Module::sums_in_order
};
/// An error of kind kInput if the text is no plan, or another module's. A plan's file isn't trusted: planning checks
/// that its decisions are valid.
Result<PlanFile> parse_plan(std::string_view text, const Module& module);

}  // namespace lowtide::engine
