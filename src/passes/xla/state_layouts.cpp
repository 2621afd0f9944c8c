#include "passes/xla/state_layouts.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/leaf_bytes.h"
#include "analysis/uses.h"
#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

Shape row_major(Shape shape) {
  Dims& order = shape.layout.emplace().minor_to_major;
  for (int64_t d = shape.rank(); d-- > 0;) order.push_back(d);
  return shape;
}

bool has_other_layouts(const Module& module) {
  return std::ranges::any_of(module.entry->parameters(), [](const Instruction* argument) {
    bool other = false;
    for_each_leaf(argument->shape, [&](const ShapeIndex&, const Shape& leaf) { other |= !is_row_major(leaf); });
    return other;
  });
}

}  // namespace

Result<PassResult> state_layouts(Module& module, const Target& target) {
  PassResult result;
  if (target.xla_backend().value_or(XlaBackend::kGpu) != XlaBackend::kGpu || has_other_layouts(module)) return result;
  const Uses uses(module);
  for (const auto& computation : module.computations()) {
    if (computation.get() == module.entry) continue;
    std::vector<Instruction*> slices;
    for (const auto& i : computation->instructions()) {
      const bool takes_slice = i->opcode == Opcode::kDynamicSlice && i.get() != computation->root && is_plain_array(*i);
      if (takes_slice && safe_logical_bytes(i->operand(0).shape) >= kSmallestSliced) slices.push_back(i.get());
    }
    if (slices.empty()) continue;
    Names names(*computation);
    for (Instruction* slice : slices) {
      const Shape stated = row_major(slice->shape);
      CustomCallAttributes attributes;
      attributes.target = "LayoutConstraint";
      Instruction* call = append_new(*computation, names.unused(slice->name + ".rows"), Opcode::kCustomCall, stated,
                                     {slice}, attributes);
      call->extra.push_back({"operand_layout_constraints", fmt::format("{{{}}}", to_string(stated))});
      call->metadata = slice->metadata;
      for (const Instruction* user : uses.of(*slice))
        std::ranges::replace(const_cast<Instruction*>(user)->operands, slice, call);
      ++result.count;
    }
    put_operands_first(*computation);
  }
  return rewritten(result.count, "slices are row-major");
}

}  // namespace lowtide::engine
