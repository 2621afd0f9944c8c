#include "passes/rules/multiply_outer_products.h"

#include <algorithm>

#include "ops/dot_checks.h"
#include "passes/canonicalise/remove_noop_casts.h"
#include "passes/rules/maker.h"

namespace lowtide::engine {
namespace {

/// Broadcasts an operand without contracting dimensions to the result: batch dimensions first, free ones from
/// `first_free` on.
Instruction* spread(const Instruction& dot, Instruction* x, const Dims& contracting, const Dims& batch,
                    int64_t first_free, Maker& maker) {
  const Dims free = free_dims(x->shape.rank(), contracting, batch);
  Dims order = batch, dims, dimensions;
  order.insert(order.end(), free.begin(), free.end());
  for (const int64_t d : order) dims.push_back(x->shape.dims[d]);
  for (size_t k = 0; k < order.size(); ++k) {
    const auto at = static_cast<int64_t>(k);
    const auto batches = static_cast<int64_t>(batch.size());
    dimensions.push_back(at < batches ? at : first_free + at - batches);
  }
  order.insert(order.end(), contracting.begin(), contracting.end());
  x = maker.reshape(maker.transpose(x, order), dims);
  return maker.broadcast(maker.convert(x, dot.shape.type), dot.shape.dims, dimensions);
}

Instruction* as_multiply(Instruction& dot, Maker& maker) {
  if (dot.operands.size() != 2 || !dot.shape.dynamic.empty()) return nullptr;
  Instruction *l = dot.operands[0], *r = dot.operands[1];
  const auto& a = dot.as<DotAttributes>();
  const auto is_one = [&](int64_t d) { return l->shape.dims[d] == 1; };
  if (!std::ranges::all_of(a.lhs_contracting_dims, is_one)) return nullptr;
  if (!holds_all_values(dot.shape.type, l->shape.type) || !holds_all_values(dot.shape.type, r->shape.type)) {
    return nullptr;
  }
  const auto batches = static_cast<int64_t>(a.lhs_batch_dims.size());
  const auto rows = l->shape.rank() - batches - static_cast<int64_t>(a.lhs_contracting_dims.size());
  Instruction* left = spread(dot, l, a.lhs_contracting_dims, a.lhs_batch_dims, batches, maker);
  Instruction* right = spread(dot, r, a.rhs_contracting_dims, a.rhs_batch_dims, batches + rows, maker);
  return maker.binary(Opcode::kMultiply, left, right);
}

}  // namespace

Result<PassResult> multiply_outer_products(Module& module) {
  return rewrite_each(module, {Opcode::kDot}, as_multiply, "dots became products");
}

}  // namespace lowtide::engine
