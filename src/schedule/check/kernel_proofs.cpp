#include "schedule/check/kernel_proofs.h"

#include <algorithm>

#include "schedule/check/moves_proof.h"
#include "schedule/check/runs.h"
#include "schedule/check/strips_proof.h"
#include "schedule/kernel_way.h"

namespace lowtide::engine {
namespace {

/// Runs of result `o` whose operands already lie in the result's bytes.
std::vector<StandingRun> runs_in_place(const Region& region, const PlacedKernel& kernel, size_t o) {
  const BytePlace& result = kernel.place(kernel.inputs + static_cast<int32_t>(o));
  std::vector<StandingRun> runs = standing_runs(region, o);
  std::erase_if(runs, [&](const StandingRun& run) {
    return kernel.place(run.input) !=
           BytePlace{result.space, result.begin + run.begin, result.begin + run.begin + run.bytes};
  });
  return runs;
}

/// Do the operands already lie at their places in every result, and fill it?
bool stands_already(const Region& region, const PlacedKernel& kernel) {
  for (size_t o = 0; o < region.outputs.size(); ++o) {
    std::vector<StandingRun> runs = runs_in_place(region, kernel, o);
    std::ranges::sort(runs, {}, &StandingRun::begin);
    int64_t end = 0;
    for (const StandingRun& run : runs) end = run.begin <= end ? std::max(end, run.begin + run.bytes) : end;
    const BytePlace& result = kernel.place(kernel.inputs + static_cast<int32_t>(o));
    if (end != result.end - result.begin) return false;
  }
  return true;
}

/// Finds operands that lie within other operands already at their places in a result of this step.
void find_standing(const Region& region, PlacedKernel& kernel) {
  for (size_t o = 0; o < region.outputs.size(); ++o) {
    for (const StandingRun& run : runs_in_place(region, kernel, o)) {
      const BytePlace& stands = kernel.place(run.input);
      for (int32_t i = 0; i < kernel.inputs; ++i) {
        const BytePlace& place = kernel.place(i);
        if (place.space == stands.space && place.begin >= stands.begin && place.end <= stands.end)
          kernel.standing.emplace_back(kernel.inputs + static_cast<int32_t>(o), i);
      }
    }
  }
}

}  // namespace

const Touches& KernelProofs::touches(int32_t region) {
  Derived& of = derived_[region];
  if (!of.touches) {
    const Region& lowered = program_.regions[region];
    of.nest = nest_of_ ? nest_of_(lowered) : std::make_shared<const Nest>(lower(lowered));
    of.touches = std::make_unique<const Touches>(*of.nest);
  }
  return *of.touches;
}

const std::string& KernelProofs::fault_of(const ProgramStep& step, const std::vector<BytePlace>& places) {
  std::vector<Overlap> overlaps;
  for (size_t o = step.reads.size(); o < places.size(); ++o) {
    for (size_t i = 0; i < step.reads.size(); ++i) {
      if (!places[o].meets(places[i])) continue;
      overlaps.emplace_back(static_cast<int32_t>(o), static_cast<int32_t>(i), places[i].begin - places[o].begin);
    }
  }
  static const std::string kNone;
  const bool as_it_is = !step.assembled && !step.way;
  if (as_it_is && overlaps.empty()) return kNone;
  const auto [known, fresh] = known_.try_emplace({&step, std::move(overlaps)});
  if (fresh) known->second = prove(step, places);
  return known->second;
}

std::string KernelProofs::prove(const ProgramStep& step, const std::vector<BytePlace>& places) {
  const Region& region = program_.regions[step.region];
  PlacedKernel kernel{touches(step.region), places, static_cast<int32_t>(step.reads.size())};
  const int32_t pieces = kernel.touches.piece_count();
  if (kernel.touches.nest().buffers.size() != places.size()) return "has other operands than its kernel";
  if (step.assembled) {
    int32_t idle = 0;
    while (idle < pieces && is_idle(kernel, idle)) ++idle;
    return idle == pieces || stands_already(region, kernel) ? "" : "isn't made by those who make its operands";
  }
  static const KernelWay kAsItStands;
  const KernelWay& way = step.way ? *step.way : kAsItStands;
  std::string why;
  if (way.rearrangement) {
    why = fault_of_rearrangement(kernel, *way.rearrangement);
  } else if (way.strips && way.strips->moves) {
    why = fault_of_moves(kernel, *way.strips->moves);
  } else if (way.strips) {
    why = fault_of_strips(kernel, *way.strips);
  }
  if (way.rearrangement || way.strips) return why.empty() ? why : "can't be made where its operand lies: " + why;
  for (const int32_t p : way.idle) {
    if (p < 0 || p >= pieces || !is_idle(kernel, p)) return "leaves out what is not there yet";
  }
  if (!operand_overwritten(kernel)) return {};
  find_standing(region, kernel);
  if (operand_overwritten(kernel)) return "writes over part of an operand that it still reads";
  return {};
}

bool KernelProofs::may_read(int32_t region, size_t input, const Change& change) {
  const auto [known, fresh] = read_.try_emplace({region, input, change.region, change.output});
  if (fresh) {
    const auto first_output = program_.regions[change.region].inputs.size();
    known->second = may_read_of(touches(region), static_cast<int32_t>(input), touches(change.region),
                                static_cast<int32_t>(first_output) + change.output);
  }
  return known->second;
}

}  // namespace lowtide::engine
