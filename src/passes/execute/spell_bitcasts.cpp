#include "passes/execute/spell_bitcasts.h"

#include "ir/dimension_order.h"
#include "passes/rules/maker.h"

namespace lowtide::engine {
namespace {

/// Dimensions from the most major to the most minor one; none if tiles interleave them.
std::optional<Dims> major_to_minor(const Shape& shape) {
  Dims order;
  if (shape.layout && (!shape.layout->tiles.empty() || shape.layout->element_bits != 0)) return std::nullopt;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    order.push_back(shape.layout ? shape.layout->minor_to_major[shape.rank() - 1 - d] : d);
  }
  return order;
}

Instruction* rewrite(Instruction& bitcast, Maker& maker) {
  if (!bitcast.shape.dynamic.empty()) return nullptr;
  Instruction* from = bitcast.operands[0];
  if (!from->shape.is_array() || !from->shape.dynamic.empty() || from->shape.type != bitcast.shape.type) return nullptr;
  const auto before = major_to_minor(from->shape), after = major_to_minor(bitcast.shape);
  if (!before || !after || element_count(from->shape) != element_count(bitcast.shape)) return nullptr;
  Dims physical;
  for (const int64_t d : *after) physical.push_back(bitcast.shape.dims[d]);
  Instruction* moved = maker.reshape(maker.transpose(from, *before), physical);
  return maker.transpose(moved, inverse_of(*after));
}

}  // namespace

Result<PassResult> spell_bitcasts(Module& module) {
  return rewrite_each(module, {Opcode::kBitcast}, rewrite, "bitcasts spelt out");
}

}  // namespace lowtide::engine
