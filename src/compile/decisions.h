#pragma once
/// What a plan decides beyond the pipeline's own ways: a list that can be searched, saved as text and replayed.

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"
#include "ir/module.h"
#include "passes/recompute/save_every.h"
#include "passes/stream/stream.h"
#include "plan/packings.h"
#include "schedule/program.h"

namespace lowtide::engine {

/// A row of the pipeline that isn't run.
struct WithoutPass {
  std::string pass;
  bool operator==(const WithoutPass&) const = default;
};

/// The rows that stream by themselves; a plan's own streams follow the last of them.
inline constexpr std::array<std::string_view, 2> kStreaming = {"stream-windows", "stream-slices"};

/// What a byte of memory may cost in time: the higher, the more is computed again where it is read.
struct PriceOfMemory {
  double ns_per_byte = 0;
  bool operator==(const PriceOfMemory&) const = default;
};

/// Orders tried by local improvement.
struct SearchSteps {
  int64_t steps = 0;
  bool operator==(const SearchSteps&) const = default;
};

/// Operands that die into their transposed or reversed selves are moved in place, though it takes longer.
struct Rearrange {
  bool operator==(const Rearrange&) const = default;
};

/// What loops save for others is recomputed from what is smaller, though it takes longer.
struct DeriveStacks {
  bool operator==(const DeriveStacks&) const = default;
};

/// What is alive where most is and read later is recomputed where that costs less than keeping it, at this price
/// (passes/recompute/recompute.h): before all streams, or, where it stands after some, of what these have left.
struct Recompute {
  double ns_per_byte = 0;
  bool operator==(const Recompute&) const = default;
};

/// What loops hand from iteration to iteration is saved for later ones every so many iterations, and recomputed between
/// (passes/recompute/save_every.h).
struct SaveEvery {
  Grouping grouping;
  bool operator==(const SaveEvery&) const = default;
};

/// Arrays are updated in the loops that make what they are updated with (passes/rules/update_where_it_is_made.h).
struct UpdateInLoops {
  bool operator==(const UpdateInLoops&) const = default;
};

/// What is read again long after it was made is recomputed there (passes/execute/rematerialise.h).
struct Rematerialise {
  bool operator==(const Rematerialise&) const = default;
};

/// The order of a computation's instructions in which it was decided what is recomputed: found before. In plans that
/// rematerialise.
struct TakeSequence {
  std::string computation;
  std::vector<int32_t> places;  ///< where each stood
  bool operator==(const TakeSequence&) const = default;
};

/// Where the buffers of one packing problem lie: what a replayed plan needn't search for.
struct Packing {
  KnownPlacement known;
  bool operator==(const Packing&) const = default;
};

/// The order and the way in which values share memory, found before.
struct TakeOrder {
  OrderChoice choice;
  bool operator==(const TakeOrder&) const = default;
};

/// A result is falsified (passes/spoil.h): inserted by a check's control after another decision. Never in a plan's
/// file.
struct Spoilt {
  bool operator==(const Spoilt&) const = default;
};

using Decision =
    std::variant<StreamDecision, WithoutPass, PriceOfMemory, SearchSteps, Rearrange, DeriveStacks, Recompute, SaveEvery,
                 UpdateInLoops, Rematerialise, TakeSequence, Packing, TakeOrder, Spoilt>;
/// Streams in the order in which they are made; the others stand anywhere.
using Decisions = std::vector<Decision>;

template <class Kind>
bool has(const Decisions& decisions) {
  return std::ranges::any_of(decisions, [](const Decision& d) { return std::holds_alternative<Kind>(d); });
}

/// Is it done before all streams, unless it is a `recompute` that stands after one?
bool comes_before_streams(const Decision& decision);

/// How many decisions stand before the first stream: all, where there is none.
size_t first_stream(const Decisions& decisions);

/// No rows that stream by themselves.
Decisions without_streams();

/// One line: `stream main s dimension=1 tile=64`, `without stream-slices`, `price-of-memory 3`, `search-steps 8000`,
/// `rearrange`, `derive-stacks`, `recompute 0.5`, `save-every 8`, `update-in-loops`, `rematerialise`, `sequence
/// COMPUTATION PLACE...`, `packing HASH HEIGHT OFFSET...`, `order NUMBER kernels|strips|moves`.
std::string to_string(const Decision& decision);

/// A plan's file: a line with the version, one that names the module and its hash, `exact` where Module::sums_in_order,
/// then a decision per line.
std::string print_plan(const Module& module, const Decisions& decisions);
struct PlanFile {
  Decisions decisions;
  bool exact = false;  ///< of a module with Module::sums_in_order
};
/// A fault of kind kInput where the text is no plan, or one of another module. Whoever wrote it, a decision says what
/// to do and never that it may be done: planning proves that again.
Result<PlanFile> parse_plan(std::string_view text, const Module& module);

}  // namespace lowtide::engine
