#include "schedule/check/value_names.h"

#include "analysis/leaves.h"
#include "analysis/partitioning.h"
#include "ops/sharding_calls.h"

namespace lowtide::engine {
namespace {

bool is_of_whole_bytes(const Shape& shape) {
  return shape.is_array() && type_bits(shape.type) == 8 * stored_bytes(shape.type) && is_row_major(shape);
}

/// Do dimensions with more than one element keep their order from the operand to the result? Dimensions of one element
/// may be anywhere.
bool keeps_elements_in_order(const Instruction& i) {
  const Shape &from = i.operand(0).shape, &to = i.shape;
  if (element_count(from) != element_count(to)) return false;
  const Dims& map = i.as<DimensionsAttributes>().dimensions;
  Dims walked;  // per dimension of more than one element, in the operand's order for broadcasts, else in the result's
  for (size_t d = 0; d < map.size(); ++d) {
    const int64_t extent = i.opcode == Opcode::kTranspose ? to.dims[d] : from.dims[d];
    if (extent != 1) walked.push_back(map[d]);
  }
  for (size_t k = 1; k < walked.size(); ++k) {
    if (walked[k] < walked[k - 1]) return false;
  }
  return true;
}

}  // namespace

LeafRef behind_bundles(LeafRef leaf) {
  while (true) {
    const Instruction& i = *leaf.instruction;
    if (i.opcode == Opcode::kGetTupleElement) {
      const int64_t element = i.as<TupleIndexAttributes>().index;
      leaf = {i.operands[0], leaf.leaf + static_cast<int32_t>(leaf_offset(i.operand(0).shape, element))};
    } else if (i.opcode == Opcode::kTuple) {
      int64_t rest = leaf.leaf;
      const Instruction* part = nullptr;
      for (const Instruction* operand : i.operands) {
        const int64_t leaves = leaf_count(operand->shape);
        if (rest < leaves) {
          part = operand;
          break;
        }
        rest -= leaves;
      }
      if (!part) return leaf;
      leaf = {part, static_cast<int32_t>(rest)};
    } else if (i.opcode == Opcode::kOptBarrier || i.opcode == Opcode::kDomain || i.opcode == Opcode::kAddDependency) {
      leaf.instruction = i.operands[0];
    } else {
      return leaf;
    }
  }
}

bool has_bytes_of_operand(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::kReshape: return true;
    case Opcode::kBitcast:
    case Opcode::kBitcastConvert:
      return is_of_whole_bytes(i.shape) && is_of_whole_bytes(i.operand(0).shape) &&
             logical_bytes(i.shape) == logical_bytes(i.operand(0).shape);
    case Opcode::kTranspose:
    case Opcode::kBroadcast: return keeps_elements_in_order(i);
    // Whole and part are one array on one device. If sizes are those of all devices, their sizes differ.
    case Opcode::kCustomCall:
      return i.shape.is_array() && names_its_operands(i) && stated_parts(i.parent->module()).has_value();
    default: return false;
  }
}

LeafRef passed_through(LeafRef leaf) {
  leaf = behind_bundles(leaf);
  const Instruction& i = *leaf.instruction;
  if (i.opcode == Opcode::kWhile) {
    const LeafRef last = passed_through({i.called.at(1)->root, leaf.leaf});
    const bool same = last.instruction == parameter_of(*i.called[1]) && last.leaf == leaf.leaf;
    return same ? passed_through({i.operands[0], leaf.leaf}) : leaf;
  }
  if (i.opcode != Opcode::kConditional) return leaf;
  LeafRef all{};
  for (size_t b = 0; b < i.called.size(); ++b) {
    LeafRef of = passed_through({i.called[b]->root, leaf.leaf});
    if (of.instruction != parameter_of(*i.called[b])) return leaf;
    of = passed_through({i.operands.at(b + 1), of.leaf});
    if (b > 0 && of != all) return leaf;
    all = of;
  }
  return all.instruction ? all : leaf;
}

const Instruction* parameter_of(const Computation& c) {
  for (const auto& p : c.instructions()) {
    if (p->opcode == Opcode::kParameter) return p.get();
  }
  return nullptr;
}

}  // namespace lowtide::engine
