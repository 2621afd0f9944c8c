#include "region/assembly.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "analysis/leaf_bytes.h"
#include "analysis/leaves.h"
#include "target/roles.h"

namespace lowtide::engine {
namespace {

class FindParts {
 public:
  explicit FindParts(const Region& region) : ops_(region.ops.begin(), region.ops.end()) {
    for (size_t k = 0; k < region.inputs.size(); ++k) inputs_.emplace(region.inputs[k], static_cast<int32_t>(k));
  }

  std::vector<Part> run(const Instruction& result) {
    std::vector<std::pair<const Instruction*, int64_t>> open{{&result, 0}};
    while (!open.empty()) {
      const auto [at, offset] = open.back();
      open.pop_back();
      const LeafRef made = resolve({at, 0});
      const auto input = inputs_.find(made);
      if (input != inputs_.end()) {
        parts_.push_back({input->second, offset, safe_logical_bytes(at->shape)});
        continue;
      }
      const Instruction& i = *made.instruction;
      if (!i.shape.is_array() || !ops_.contains(&i)) continue;
      if (can_be_view(i)) open.emplace_back(i.operands[0], offset);
      if (!joins_runs(i)) continue;
      int64_t next = offset + safe_logical_bytes(i.shape);
      for (size_t k = i.operands.size(); k-- > 0;) {
        next -= safe_logical_bytes(i.operand(k).shape);
        open.emplace_back(i.operands[k], next);
      }
    }
    return std::move(parts_);
  }

 private:
  std::unordered_set<const Instruction*> ops_;
  std::map<LeafRef, int32_t> inputs_;
  std::vector<Part> parts_;
};

}  // namespace

bool joins_runs(const Instruction& i) {
  if (i.opcode != Opcode::kConcatenate || type_bits(i.shape.type) != 8 * stored_bytes(i.shape.type)) return false;
  const int64_t along = i.as<DimensionsAttributes>().dimensions[0];
  return std::all_of(i.shape.dims.begin(), i.shape.dims.begin() + along, [](int64_t extent) { return extent == 1; });
}

std::vector<Part> assembly_of(const Region& region, size_t output) {
  const LeafRef& out = region.outputs[output];
  const bool updates = output < region.updates.size() && region.updates[output].instruction;
  const auto joins = [](const Instruction* i) { return joins_runs(*i); };
  if (updates || !out.instruction->shape.is_array() || std::none_of(region.ops.begin(), region.ops.end(), joins)) {
    return {};
  }
  return FindParts(region).run(*out.instruction);
}

bool is_complete(const Region& region, size_t output, const std::vector<Part>& parts) {
  int64_t bytes = 0;
  for (const Part& part : parts) bytes += part.bytes;
  return bytes == safe_logical_bytes(region.outputs[output].instruction->shape);
}

}  // namespace lowtide::engine
