// ragged-dot: a dot whose lhs rows belong to groups, each with its own rhs matrix.
//   lhs [batch, m, k], rhs [g, batch, k, n] with group dimension g, group_sizes s32[g]: rows of group i are multiplied
//   by rhs[i], rows after all groups give 0. With a contracting ragged dimension the result gains a leading group
//   dimension.
//   (C1) operands are arrays, complex if the result is; group_sizes are integers
//   (C2) dimension lists are in range, none names a dimension twice
//   (C3) both sides have equally many batch dimensions, of equal extents
//   (C4) both sides have equally many contracting dimensions, of equal extents
//   (C5) one ragged dimension of lhs; at most one group dimension of rhs, neither batch nor contracted
#include <algorithm>

#include "ops/dot_checks.h"
#include "ops/element_rules.h"
#include "ops/elementwise.h"
#include "ops/index_space.h"
#include "ops/reducer.h"

namespace lowtide::engine {
namespace {

Result<Shape> infer_ragged_dot(const Instruction& dot) {
  LT_RETURN_IF_ERROR(check_arrays(dot, 1));  // (C1)
  const Shape& lhs = dot.operand(0).shape;
  const Shape& rhs = dot.operand(1).shape;
  const Shape& sizes = dot.operand(2).shape;
  if (!is_integral(sizes.type) || sizes.rank() == 0) {
    return broken(dot, 1, "group_sizes are " + to_string_without_layout(sizes) + ", not a vector of integers");
  }
  if (dot.shape.is_array() && is_complex(dot.shape.type) != (is_complex(lhs.type) || is_complex(rhs.type))) {
    return broken(dot, 1, "can't give " + to_string_without_layout(dot.shape) + " of these operands");
  }
  LT_RETURN_IF_ERROR(check_dot_dims(dot, lhs, rhs));  // (C2)
  const auto& attributes = dot.as<DotAttributes>();
  LT_RETURN_IF_ERROR(check_dims(dot, attributes.lhs_ragged_dims, lhs.rank(), "lhs_ragged_dims", 5));  // (C5)
  LT_RETURN_IF_ERROR(check_dims(dot, attributes.rhs_group_dims, rhs.rank(), "rhs_group_dims", 5));
  if (attributes.lhs_ragged_dims.size() != 1 || attributes.rhs_group_dims.size() > 1) {
    return broken(dot, 5, "needs one ragged dimension and at most one group dimension");
  }
  for (const int64_t d : attributes.rhs_group_dims) {
    if (contains(attributes.rhs_batch_dims, d) || contains(attributes.rhs_contracting_dims, d)) {
      return broken(dot, 5, "the group dimension of rhs is batch or contracted");
    }
  }
  if (has_unbounded(dot)) return dot.shape;
  LT_RETURN_IF_ERROR(
      check_paired_extents(dot, lhs, rhs, attributes.lhs_batch_dims, attributes.rhs_batch_dims, "batch", 3));  // (C3)
  LT_RETURN_IF_ERROR(check_paired_extents(dot, lhs, rhs, attributes.lhs_contracting_dims,
                                          attributes.rhs_contracting_dims, "contracting", 4));  // (C4)
  Shape ungrouped = rhs;  // the group dimension is contracted away
  DotAttributes plain = attributes;
  plain.rhs_contracting_dims.insert(plain.rhs_contracting_dims.end(), attributes.rhs_group_dims.begin(),
                                    attributes.rhs_group_dims.end());
  Dims dims = dot_result_dims(plain, lhs, ungrouped);
  const Dims& contracting = attributes.lhs_contracting_dims;
  if (std::find(contracting.begin(), contracting.end(), attributes.lhs_ragged_dims[0]) != contracting.end()) {
    dims.insert(dims.begin(), sizes.dims.back());
  }
  return Shape::array(dot.shape.is_array() ? dot.shape.type : lhs.type, dims);
}

/// lhs with all rows set to zero except those in [begin, end) along dimension d.
Literal only_rows(const Literal& lhs, size_t d, int64_t begin, int64_t end) {
  Literal kept(lhs.shape());
  const Dims& extents = lhs.shape().dims;
  const int64_t stride = row_major_strides(extents)[d];
  for (int64_t i = 0; i < lhs.size(); ++i) {
    const int64_t row = i / stride % extents[d];
    if (row >= begin && row < end) copy_element(lhs, i, kept, i);
  }
  return kept;
}

/// The part of rhs at index g of dimension d, which is kept with extent 1.
Literal group_of(const Literal& rhs, size_t d, int64_t g) {
  Dims extents = rhs.shape().dims;
  const Dims strides = row_major_strides(extents);
  extents[d] = 1;
  Literal part(Shape::array(rhs.shape().type, extents));
  int64_t to = 0;
  for (const int64_t from : offsets_of(extents, strides)) copy_element(rhs, from + g * strides[d], part, to++);
  return part;
}

/// Copies rows [begin, end) of a product, along the result dimension that corresponds to lhs's ragged dimension.
void copy_rows(const Literal& product, const DotAttributes& attributes, const Shape& lhs, int64_t begin, int64_t end,
               Literal& result) {
  const Dims free = free_dims(lhs.rank(), attributes.lhs_contracting_dims, attributes.lhs_batch_dims);
  const auto place = std::find(free.begin(), free.end(), attributes.lhs_ragged_dims[0]) - free.begin();
  const size_t d = attributes.lhs_batch_dims.size() + static_cast<size_t>(place);
  const Dims& extents = result.shape().dims;
  const int64_t stride = row_major_strides(extents)[d];
  for (int64_t i = 0; i < result.size(); ++i) {
    const int64_t row = i / stride % extents[d];
    if (row >= begin && row < end) copy_element(product, i, result, i);
  }
}

Result<Value> eval_ragged_dot(const Instruction& dot, Operands operands, EvalContext&) {
  const auto& attributes = dot.as<DotAttributes>();
  const auto ragged = static_cast<size_t>(attributes.lhs_ragged_dims[0]);
  const Literal& sizes = *operands[2];
  if (sizes.shape().rank() != 1 || contains(attributes.lhs_batch_dims, attributes.lhs_ragged_dims[0])) {
    return Status::unsupported("ragged-dot " + dot.name + ": groups within a batch can't be run");
  }
  LT_ASSIGN_OR_RETURN(const Value lhs, convert_elements(operands[0], dot.shape.type));
  LT_ASSIGN_OR_RETURN(const Value rhs, convert_elements(operands[1], dot.shape.type));
  const bool contracted = contains(attributes.lhs_contracting_dims, attributes.lhs_ragged_dims[0]);
  const bool grouped = !attributes.rhs_group_dims.empty();
  if (contracted == grouped || (grouped && rhs->shape().dims[attributes.rhs_group_dims[0]] != sizes.shape().dims[0])) {
    return Status::unsupported("ragged-dot " + dot.name + ": rows are either contracted or have a matrix per group");
  }
  // A contracting ragged dimension: one product per group, stacked. A free one: each group's rows are multiplied by its
  // own matrix and copied to the result; no row belongs to two groups.
  auto result = std::make_shared<Literal>(dot.shape);
  DotAttributes each = attributes;
  Shape part = bare(dot.shape);
  if (contracted) part.dims.erase(part.dims.begin());
  if (grouped) each.rhs_contracting_dims.push_back(attributes.rhs_group_dims[0]);
  const int64_t rows = lhs->shape().dims[ragged];
  int64_t begin = 0;
  for (int64_t g = 0; g < sizes.size(); ++g) {
    const int64_t end = begin + std::clamp<int64_t>(integer_at(sizes, g), 0, rows - begin);
    const Literal kept = only_rows(*lhs, ragged, begin, end);
    Literal product(part);
    if (contracted) {
      contract(kept, *rhs, each, product);
      for (int64_t i = 0; i < product.size(); ++i) copy_element(product, i, *result, g * product.size() + i);
    } else {
      contract(kept, group_of(*rhs, static_cast<size_t>(attributes.rhs_group_dims[0]), g), each, product);
      copy_rows(product, attributes, lhs->shape(), begin, end, *result);
    }
    begin = end;
  }
  return Value(result);
}

}  // namespace

const OpRule kRaggedDotRule{.read = read_dot,
                            .print = print_dot,
                            .infer = infer_ragged_dot,
                            .eval = eval_ragged_dot,
                            .element = element_ragged_dot,
                            .has_element = has_element_ragged_dot,
                            .slicing = kNotSliced,
                            .extents = unknown_extents,
                            .reads = reads_anywhere,
                            .arithmetic = kOneRounding};

}  // namespace lowtide::engine
