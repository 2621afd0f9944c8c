#include "schedule/check/runs.h"

#include <algorithm>

#include "analysis/leaf_bytes.h"
#include "analysis/leaves.h"
#include "schedule/check/value_names.h"

namespace lowtide::engine {
namespace {

/// Do the operands follow each other in memory? Not if one has several rows, or elements share bytes.
bool appends(const Instruction& i) {
  if (i.opcode != Opcode::kConcatenate || type_bits(i.shape.type) != 8 * stored_bytes(i.shape.type)) return false;
  const auto along = static_cast<size_t>(i.as<DimensionsAttributes>().dimensions[0]);
  for (size_t d = 0; d < along; ++d) {
    if (i.shape.dims[d] != 1) return false;
  }
  return true;
}

void add_runs(const Region& region, LeafRef value, int64_t begin, std::vector<StandingRun>& runs) {
  value = behind_bundles(value);
  const Instruction& i = *value.instruction;
  const auto input = std::ranges::find(region.inputs, value);
  if (input != region.inputs.end()) {
    const int64_t bytes = safe_logical_bytes(*leaf_shape(i.shape, value.leaf));
    runs.push_back({static_cast<int32_t>(input - region.inputs.begin()), begin, bytes});
  } else if (has_bytes_of_operand(i)) {
    add_runs(region, {i.operands[0], 0}, begin, runs);
  } else if (appends(i)) {
    for (const Instruction* operand : i.operands) {
      add_runs(region, {operand, 0}, begin, runs);
      begin += safe_logical_bytes(operand->shape);
    }
  }
}

}  // namespace

std::vector<StandingRun> standing_runs(const Region& region, size_t output) {
  std::vector<StandingRun> runs;
  if (!region.updates[output].instruction) add_runs(region, region.outputs[output], 0, runs);
  return runs;
}

}  // namespace lowtide::engine
