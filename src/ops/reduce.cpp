// reduce: folds dimensions away with a computation.
//   inputs T0[s], T1[s], ..., initial values T0[], T1[], ..., computation (A0[], A1[], ..., T0[], T1[], ...) ->
//   (A0[], A1[], ...) give A0[s without the dimensions], ...; a tuple if there are several. The fold runs in row-major
//   order over the reduced dimensions, starting from the initial values.
//   (C1) as many initial values as inputs, at least one; they are scalars
//   (C2) inputs have the same extents
//   (C3) dimensions are in range, none twice
//   (C4) the computation takes two scalars per input and gives one, a tuple if there are several
// Declared floats may differ in precision from the computation's result: TPU programs round the finished fold.
#include <algorithm>

#include "ops/combiner.h"
#include "ops/dimension_roles.h"
#include "ops/element_rules.h"
#include "ops/elementwise.h"
#include "ops/evaluations.h"
#include "ops/extents.h"
#include "ops/index_space.h"
#include "ops/reducer.h"
#include "ops/reducer_checks.h"

namespace lowtide::engine {
namespace {

Status read_reduce(AttributeReader& reader, Instruction& reduce) {
  DimensionsAttributes attributes;
  LT_ASSIGN_OR_RETURN(attributes.dimensions, reader.take_dims("dimensions"));
  LT_ASSIGN_OR_RETURN(Computation * callee, reader.take_computation("to_apply"));
  reduce.called = {callee};
  reduce.attributes = std::move(attributes);
  return {};
}

void print_reduce(const Instruction& reduce, AttributeWriter& writer) {
  writer.dims("dimensions", reduce.as<DimensionsAttributes>().dimensions);
  writer.computation("to_apply", *reduce.called[0]);
}

/// The result's shape with the element types of the computation.
Result<Shape> folded_shape(const Instruction& reduce) {
  LT_ASSIGN_OR_RETURN(const size_t inputs, check_folded_inputs(reduce, 1, 2));  // (C1) (C2)
  const Shape& first = reduce.operand(0).shape;
  const Dims& dimensions = reduce.as<DimensionsAttributes>().dimensions;
  LT_RETURN_IF_ERROR(check_dims(reduce, dimensions, first.rank(), "dimensions", 3));               // (C3)
  LT_ASSIGN_OR_RETURN(const std::vector<ElementType> types, check_reducer(reduce, 0, inputs, 4));  // (C4)
  Shape kept;
  std::vector<bool> gone(first.dims.size(), false);
  for (const int64_t d : dimensions) gone[d] = true;
  for (size_t d = 0; d < first.dims.size(); ++d) {
    if (!gone[d]) kept.dims.push_back(first.dims[d]);
  }
  std::vector<Shape> results;
  for (const ElementType type : types) results.push_back(Shape::array(type, kept.dims));
  return one_or_tuple(std::move(results));
}

Result<Shape> infer_reduce(const Instruction& reduce) {
  LT_ASSIGN_OR_RETURN(Shape shape, folded_shape(reduce));
  return as_declared(std::move(shape), reduce.shape);
}

Result<Value> eval_reduce(const Instruction& reduce, Operands operands, EvalContext& context) {
  const Dims& extents = operands[0]->shape().dims;
  const Dims strides = row_major_strides(extents);
  Dims dimensions = reduce.as<DimensionsAttributes>().dimensions;
  std::sort(dimensions.begin(), dimensions.end());
  Dims kept;
  for (int64_t d = 0; d < static_cast<int64_t>(extents.size()); ++d) {
    if (!std::binary_search(dimensions.begin(), dimensions.end(), d)) kept.push_back(d);
  }
  LT_ASSIGN_OR_RETURN(Reducer reducer, Reducer::make(*reduce.called[0], operands, FloatSums::kWide, context));
  LT_ASSIGN_OR_RETURN(const Shape shape, folded_shape(reduce));
  std::vector<Literal> results = results_for(shape);
  const Dims folded = offsets_of(pick(extents, dimensions), pick(strides, dimensions));
  const Dims starts = offsets_of(pick(extents, kept), pick(strides, kept));
  for (size_t i = 0; i < starts.size(); ++i) {
    reducer.start();
    for (const int64_t offset : folded) LT_RETURN_IF_ERROR(reducer.fold(starts[i] + offset));
    reducer.store(results, static_cast<int64_t>(i));
  }
  return rounded_as(bundled(std::move(results)), reduce.shape);
}

std::vector<OperandDimension> roles_of_reduce(const Instruction& reduce, size_t operand) {
  if (2 * operand >= reduce.operands.size()) return {};
  std::vector<OperandDimension> roles(reduce.operand(operand).shape.dims.size());
  const Dims& dimensions = reduce.as<DimensionsAttributes>().dimensions;
  int64_t kept = 0;
  for (size_t d = 0; d < roles.size(); ++d) {
    const auto place = static_cast<int64_t>(d);
    roles[d] = contains(dimensions, place) ? reduced(place) : pointwise(kept++);
  }
  return roles;
}

/// A fold can run slice by slice if it is one operation on two numbers that has a neutral element.
bool folds_of_reduce(const Instruction& reduce, size_t, int64_t) {
  const ElementType type = reduce.shape.type;
  return reduce.operands.size() == 2 && recognise_combiner(*reduce.called[0], type).kind == CombinerKind::kBinary &&
         neutral_element(reduce.called[0]->root->opcode, type) != nullptr;
}

constexpr Slicing kReduceSlicing{.roles = roles_of_reduce,
                                 .sliceable = Sliceable::kInStep,
                                 .whole = ReadWhole::kScalars,
                                 .adapt = keep_attributes,
                                 .folds = folds_of_reduce,
                                 .positions = no_positions,
                                 .rows = kRowsInStep};

void extents_of_reduce(ExtentRelater& r) {
  extents_by_roles(r);
  r.same_results();
}

double terms_of_reduce(const Instruction& reduce) {
  return product_of(reduce.operand(0).shape, reduce.as<DimensionsAttributes>().dimensions);
}

void reads_of_reduce(OperandReads& reads) {
  reads.in_own_loop(reads.evaluations().count * std::max(1.0, reads.elements() / reads.of_user()));
}

}  // namespace

const OpRule kReduceRule{
    .read = read_reduce,
    .print = print_reduce,
    .infer = infer_reduce,
    .eval = eval_reduce,
    .element = element_reduce,
    .has_element = has_element_reduce,
    .split = split_operand_dimensions,
    .slicing = kReduceSlicing,
    .extents = extents_of_reduce,
    .reads = reads_of_reduce,
    .arithmetic = {.plain = 1, .complex = 1, .code = 1, .rounds = Rounds::kAsItsBody, .terms = terms_of_reduce}};

}  // namespace lowtide::engine
