// dot: sum of products over contracting dimensions, for each index of the batch dimensions.
//   lhs A[batch, m.., k..], rhs B[batch, n.., k..] (dimensions in any order) -> R[batch, m.., n..]. R is as declared;
//   bf16 and f16 accumulate in f32 and round once, integers wrap. A third operand of R's type and extents is the
//   initial value of the sums, for loops that accumulate products over tiles (HLO's own third operands are those of
//   sparse dots).
//   (C1) operands are arrays
//   (C2) dimension lists are in range, none names a dimension twice
//   (C3) both sides have equally many batch dimensions, of equal extents
//   (C4) both sides have equally many contracting dimensions, of equal extents
//   (C5) the result is complex if and only if an operand is
#include <algorithm>

#include "ops/contract.h"
#include "ops/dimension_roles.h"
#include "ops/dot_checks.h"
#include "ops/element_rules.h"
#include "ops/evaluations.h"
#include "ops/extents.h"
#include "ops/index_space.h"
#include "ops/op_rule.h"

namespace lowtide::engine {
namespace {

Result<Shape> infer_dot(const Instruction& dot) {
  LT_RETURN_IF_ERROR(check_arrays(dot, 1));  // (C1)
  if (dot.operands.size() < 2) return broken(dot, 1, "needs two operands");
  const Shape& lhs = dot.operand(0).shape;
  const Shape& rhs = dot.operand(1).shape;
  LT_RETURN_IF_ERROR(check_dot_dims(dot, lhs, rhs));  // (C2)
  // Further operands tell which elements of a sparse lhs or rhs are stored: its extents aren't the logical ones.
  if ((dot.operands.size() > 2 && !has_addend(dot)) || has_unbounded(dot)) return dot.shape;
  const auto& attributes = dot.as<DotAttributes>();
  LT_RETURN_IF_ERROR(
      check_paired_extents(dot, lhs, rhs, attributes.lhs_batch_dims, attributes.rhs_batch_dims, "batch", 3));  // (C3)
  LT_RETURN_IF_ERROR(check_paired_extents(dot, lhs, rhs, attributes.lhs_contracting_dims,
                                          attributes.rhs_contracting_dims, "contracting", 4));  // (C4)
  const ElementType type = dot.shape.is_array() ? dot.shape.type : lhs.type;
  if (is_complex(type) != (is_complex(lhs.type) || is_complex(rhs.type))) {  // (C5)
    return broken(dot, 5, "can't give " + to_string_without_layout(dot.shape) + " of these operands");
  }
  return Shape::array(type, dot_result_dims(attributes, lhs, rhs));
}

Dims joined(Dims a, const Dims& b, const Dims& c) {
  a.insert(a.end(), b.begin(), b.end());
  a.insert(a.end(), c.begin(), c.end());
  return a;
}

Result<Value> eval_dot(const Instruction& dot, Operands operands, EvalContext&) {
  if (operands.size() > 2 && !has_addend(dot))
    return Status::unsupported("dot " + dot.name + ": sparse operands can't be run");
  const auto& attributes = dot.as<DotAttributes>();
  LT_ASSIGN_OR_RETURN(const Value lhs, convert_elements(operands[0], dot.shape.type));
  LT_ASSIGN_OR_RETURN(const Value rhs, convert_elements(operands[1], dot.shape.type));
  auto result = std::make_shared<Literal>(dot.shape);
  contract(*lhs, *rhs, attributes, *result, has_addend(dot) ? operands[2].get() : nullptr);
  return Value(result);
}

std::vector<OperandDimension> roles_of_dot(const Instruction& dot, size_t operand) {
  const auto& a = dot.as<DotAttributes>();
  const bool left = operand == 0;
  const Shape& shape = dot.operand(operand).shape;
  std::vector<OperandDimension> roles(shape.dims.size());
  if (dot.operands.size() != 2) return roles;
  const Dims& batch = left ? a.lhs_batch_dims : a.rhs_batch_dims;
  const Dims& contracting = left ? a.lhs_contracting_dims : a.rhs_contracting_dims;
  for (size_t k = 0; k < batch.size(); ++k) roles[batch[k]] = pointwise(static_cast<int64_t>(k));
  for (size_t k = 0; k < contracting.size(); ++k) {
    roles[contracting[k]] = reduced(static_cast<int64_t>(k));
  }
  auto next = static_cast<int64_t>(batch.size());
  if (!left) {
    next += dot.operand(0).shape.rank() - next - static_cast<int64_t>(a.lhs_contracting_dims.size());
  }
  for (const int64_t d : free_dims(shape.rank(), contracting, batch)) roles[d] = pointwise(next++);
  return roles;
}

bool folds_of_dot(const Instruction& dot, size_t, int64_t) { return dot.operands.size() == 2; }

constexpr Slicing kDotSlicing{.roles = roles_of_dot,
                              .sliceable = Sliceable::kInStep,
                              .whole = ReadWhole::kAny,
                              .adapt = keep_attributes,
                              .folds = folds_of_dot,
                              .positions = no_positions,
                              .rows = kRowsInStep};

void extents_of_dot(ExtentRelater& r) {
  return r.instruction().operands.size() == 2 ? extents_by_roles(r) : unknown_extents(r);
}

double terms_of_dot(const Instruction& dot) {
  return product_of(dot.operand(0).shape, dot.as<DotAttributes>().lhs_contracting_dims);
}

void reads_of_dot(OperandReads& reads) { reads.in_own_loop(reads.evaluations().count * terms_of_dot(reads.user())); }

bool split_dot(SplitOperation& split, Attributes& attributes) {
  auto& dot = std::get<DotAttributes>(attributes);
  if (split.operands.size() != 2) return false;
  const SplitDims &lhs = split.operands[0], &rhs = split.operands[1];
  dot.lhs_contracting_dims = lhs.numbers(dot.lhs_contracting_dims);
  dot.rhs_contracting_dims = rhs.numbers(dot.rhs_contracting_dims);
  dot.lhs_batch_dims = lhs.numbers(dot.lhs_batch_dims);
  dot.rhs_batch_dims = rhs.numbers(dot.rhs_batch_dims);
  return true;
}

}  // namespace

void contract(const Literal& lhs, const Literal& rhs, const DotAttributes& attributes, Literal& result,
              const Literal* begin) {
  const Dims& l = lhs.shape().dims;
  const Dims& r = rhs.shape().dims;
  const Dims lhs_free = free_dims(lhs.shape().rank(), attributes.lhs_contracting_dims, attributes.lhs_batch_dims);
  const Dims rhs_free = free_dims(rhs.shape().rank(), attributes.rhs_contracting_dims, attributes.rhs_batch_dims);
  // lhs as [batch, rows, depth], rhs as [batch, depth, columns]
  const Dims lhs_order = joined(attributes.lhs_batch_dims, lhs_free, attributes.lhs_contracting_dims);
  const Dims rhs_order = joined(attributes.rhs_batch_dims, attributes.rhs_contracting_dims, rhs_free);
  const auto size_of = [](const Dims& extents, const Dims& dims) {
    return element_count(Shape::array(ElementType::kF32, pick(extents, dims)));
  };
  const int64_t batches = size_of(l, attributes.lhs_batch_dims), rows = size_of(l, lhs_free);
  const int64_t depth = size_of(l, attributes.lhs_contracting_dims), columns = size_of(r, rhs_free);
  dispatch_sums(result.shape().type, [&]<class T, class S>() {
    const auto a = panel<S>(lhs, offsets_of(pick(l, lhs_order), pick(row_major_strides(l), lhs_order)));
    const auto b = panel<S>(rhs, offsets_of(pick(r, rhs_order), pick(row_major_strides(r), rhs_order)));
    const auto out = result.data<T>();
    for (int64_t row = 0; row < batches * rows; ++row) {
      const S* matrix = b.get() + row / std::max<int64_t>(rows, 1) * depth * columns;
      for (int64_t column = 0; column < columns; column += kSumsAtOnce) {
        const int64_t width = std::min(kSumsAtOnce, columns - column);
        S sums[kSumsAtOnce] = {};
        for (int64_t j = 0; begin != nullptr && j < width; ++j) {
          sums[j] = static_cast<S>(widen(begin->data<T>()[row * columns + column + j]));
        }
        accumulate(sums, a.get() + row * depth, matrix + column, depth, columns, width);
        for (int64_t j = 0; j < width; ++j) out[row * columns + column + j] = rounded<T>(sums[j]);
      }
    }
  });
}

bool has_addend(const Instruction& dot) {
  if (dot.operands.size() != 3 || !dot.shape.is_array() || !dot.operand(2).shape.is_array()) return false;
  const Shape& addend = dot.operand(2).shape;
  return addend.type == dot.shape.type && addend.dims == dot.shape.dims;
}

const OpRule kDotRule{
    .read = read_dot,
    .print = print_dot,
    .infer = infer_dot,
    .eval = eval_dot,
    .element = element_dot,
    .has_element = has_element_dot,
    .split = split_dot,
    .slicing = kDotSlicing,
    .extents = extents_of_dot,
    .reads = reads_of_dot,
    .arithmetic = {.plain = 1, .complex = 1, .code = 1, .rounds = Rounds::kFloats, .terms = terms_of_dot}};

}  // namespace lowtide::engine
