#include "passes/execute/split_long_products.h"

#include "passes/execute/parts.h"
#include "passes/rules/maker.h"
#include "target/target.h"

namespace lowtide::engine {
namespace {

bool is_long_product(const Instruction& i, const Target& target) {
  if (target.role_of(i) == OpRole::kLibrary) return false;
  const auto& dot = i.as<DotAttributes>();
  const ElementType type = i.shape.type;
  if (!is_wide_float(type)) return false;
  if (!dot.lhs_batch_dims.empty() || dot.lhs_contracting_dims.size() != 1 || !dot.lhs_ragged_dims.empty()) return false;
  const Shape &left = i.operand(0).shape, &right = i.operand(1).shape;
  if (!left.dynamic.empty() || !right.dynamic.empty()) return false;
  const int64_t terms = left.dims[dot.lhs_contracting_dims[0]];
  const int64_t results = element_count(i.shape);
  if (results == 0 || terms < kLongByRows || terms * results < kLongInAll) return false;
  const bool left_is_larger = element_count(left) >= element_count(right);
  const Shape& larger = left_is_larger ? left : right;
  const int64_t contracted = left_is_larger ? dot.lhs_contracting_dims[0] : dot.rhs_contracting_dims[0];
  return are_few(results, contracted != larger.rank() - 1);
}

Instruction* part_of_terms(Instruction* x, int64_t dimension, int64_t parts, Maker& maker) {
  Dims dims = x->shape.dims;
  dims[dimension] /= parts;
  dims.insert(dims.begin() + dimension, parts);
  return maker.reshape(x, dims);
}

Instruction* split_product(const Instruction& dot, Maker& maker) {
  const DotAttributes& given = dot.as<DotAttributes>();
  const int64_t left = given.lhs_contracting_dims[0], right = given.rhs_contracting_dims[0];
  const int64_t terms = dot.operand(0).shape.dims[left];
  const int64_t parts = parts_of(terms, liked_parts(terms, element_count(dot.shape)));
  if (parts == 0) return nullptr;
  Dims dims = dot.shape.dims;
  dims.insert(dims.begin(), parts);
  Instruction* sums = maker.like(
      dot, Shape::array(dot.shape.type, dims),
      {part_of_terms(dot.operands[0], left, parts, maker), part_of_terms(dot.operands[1], right, parts, maker)});
  DotAttributes attributes = given;
  attributes.lhs_batch_dims = {left};
  attributes.rhs_batch_dims = {right};
  attributes.lhs_contracting_dims = {left + 1};
  attributes.rhs_contracting_dims = {right + 1};
  sums->attributes = std::move(attributes);
  Instruction* sum = maker.make(Opcode::kReduce, Shape::array(dot.shape.type, dot.shape.dims),
                                {sums, maker.constant(dot.shape.type, 0)}, DimensionsAttributes{{0}});
  sum->called = {maker.addition(dot.shape.type)};
  return sum;
}

}  // namespace

Result<PassResult> split_long_products(Module& module, const Target& target) {
  if (module.sums_in_order) return PassResult{};
  return rewrite_each(
      module, {Opcode::kDot},
      [&](Instruction& i, Maker& maker) { return is_long_product(i, target) ? split_product(i, maker) : nullptr; },
      "products split");
}

}  // namespace lowtide::engine
