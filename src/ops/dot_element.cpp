#include "ops/dot_checks.h"
#include "ops/element_rules.h"
#include "ops/products.h"

namespace lowtide::engine {
namespace {

void place(Index& index, const Dims& dims, size_t k, const Affine& at) { index[dims[k]] = at; }

}  // namespace

bool has_element_dot(const Instruction& dot) { return dot.operands.size() == 2; }

void element_dot(ElementContext& context, const Instruction& dot, const Index& index, std::span<NodeId> leaves) {
  const auto& attributes = dot.as<DotAttributes>();
  const Shape& lhs = dot.operand(0).shape;
  const Shape& rhs = dot.operand(1).shape;
  Index left(lhs.dims.size()), right(rhs.dims.size());
  size_t next = 0;
  for (size_t k = 0; k < attributes.lhs_batch_dims.size(); ++k, ++next) {
    place(left, attributes.lhs_batch_dims, k, index[next]);
    place(right, attributes.rhs_batch_dims, k, index[next]);
  }
  for (const int64_t d : free_dims(lhs.rank(), attributes.lhs_contracting_dims, attributes.lhs_batch_dims)) {
    left[d] = index[next++];
  }
  for (const int64_t d : free_dims(rhs.rank(), attributes.rhs_contracting_dims, attributes.rhs_batch_dims)) {
    right[d] = index[next++];
  }
  ProductSum sum(context, dot.shape.type);
  for (size_t k = 0; k < attributes.lhs_contracting_dims.size(); ++k) {
    const Affine at = sum.open(lhs.dims[attributes.lhs_contracting_dims[k]]);
    place(left, attributes.lhs_contracting_dims, k, at);
    place(right, attributes.rhs_contracting_dims, k, at);
  }
  const NodeId a = context.element(dot.operand(0), left);
  sum.add(a, context.element(dot.operand(1), right));
  leaves[0] = sum.close();
}

}  // namespace lowtide::engine
