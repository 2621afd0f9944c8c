#include "schedule/check/kernel_proofs.h"

#include "schedule/check/moves_proof.h"
#include "schedule/check/strips_proof.h"

namespace lowtide {

const Touches& KernelProofs::touches(int32_t region) {
  Derived& of = derived_[region];
  if (!of.touches) {
    const Region& lowered = program_.regions[static_cast<size_t>(region)];
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
  const bool as_it_is = !step.assembled && !step.strips && !step.rearrangement && step.idle.empty();
  if (as_it_is && overlaps.empty()) return kNone;
  const auto [known, fresh] = known_.try_emplace({&step, std::move(overlaps)});
  if (fresh) known->second = prove(step, places);
  return known->second;
}

std::string KernelProofs::prove(const ProgramStep& step, const std::vector<BytePlace>& places) {
  const PlacedKernel kernel{touches(step.region), places, static_cast<int32_t>(step.reads.size())};
  const int32_t pieces = kernel.touches.piece_count();
  if (kernel.touches.nest().buffers.size() != places.size()) return "has other operands than its kernel";
  if (step.assembled) {
    for (int32_t p = 0; p < pieces; ++p) {
      if (!is_idle(kernel, p)) return "isn't made by those who make its operands";
    }
    return {};
  }
  std::string why;
  if (step.rearrangement) {
    why = fault_of_rearrangement(kernel, *step.rearrangement);
  } else if (step.strips && step.strips->moves) {
    why = fault_of_moves(kernel, *step.strips->moves);
  } else if (step.strips) {
    why = fault_of_strips(kernel, *step.strips);
  }
  if (step.rearrangement || step.strips) return why.empty() ? why : "can't be made where its operand lies: " + why;
  for (const int32_t p : step.idle) {
    if (p < 0 || p >= pieces || !is_idle(kernel, p)) return "leaves out what is not there yet";
  }
  if (operand_overwritten(kernel)) return "writes over part of an operand that it still reads";
  return {};
}

bool KernelProofs::may_read(int32_t region, size_t input, const Change& change) {
  const auto [known, fresh] = read_.try_emplace({region, input, change.region, change.output});
  if (fresh) {
    const auto first_output = program_.regions[static_cast<size_t>(change.region)].inputs.size();
    known->second = may_read_of(touches(region), static_cast<int32_t>(input), touches(change.region),
                                static_cast<int32_t>(first_output) + change.output);
  }
  return known->second;
}

}  // namespace lowtide
