// sort: sorts the elements along one dimension by a comparator; several arrays are permuted together.
//   operands T0[s], T1[s], ... give the same shapes, a tuple if there are several. The comparator takes two elements
//   of each operand, (a0, b0, a1, b1, ...), and says whether a comes before b. The sort is always stable here.
//   (C1) operands are arrays of the same extents, at least one
//   (C2) one dimension, in range
//   (C3) the comparator takes two scalars of each operand's type and gives pred[]
#include <algorithm>

#include "ops/checks.h"
#include "ops/dimension_roles.h"
#include "ops/extents.h"
#include "ops/index_space.h"
#include "ops/op_rule.h"
#include "ops/reducer.h"
#include "ops/scalar_function.h"

namespace lowtide::engine {
namespace {

Status read_sort(AttributeReader& reader, Instruction& sort) {
  SortAttributes attributes;
  LT_ASSIGN_OR_RETURN(const Dims dimensions, reader.take_dims("dimensions"));
  if (dimensions.size() != 1) return reader.fault_at("dimensions", "expected one dimension");
  attributes.dimension = dimensions[0];
  LT_ASSIGN_OR_RETURN(attributes.is_stable, reader.take_bool_or("is_stable", false));
  LT_ASSIGN_OR_RETURN(Computation * callee, reader.take_computation("to_apply"));
  sort.called = {callee};
  sort.attributes = attributes;
  return {};
}

void print_sort(const Instruction& sort, AttributeWriter& writer) {
  const auto& attributes = sort.as<SortAttributes>();
  writer.dims("dimensions", {attributes.dimension});
  if (attributes.is_stable) writer.boolean("is_stable", true);
  writer.computation("to_apply", *sort.called[0]);
}

/// Backends may narrow float operands and keep a comparator of wider floats.
bool compares_in_another_precision(const Instruction& sort, const Shape& operand, const Shape& parameter) {
  const bool of_backend = sort.parent && sort.parent->module().is_scheduled;
  return of_backend && parameter.is_array() && parameter.dims.empty() && operand.type != parameter.type &&
         is_floating(operand.type) && is_floating(parameter.type);
}

Result<Shape> infer_sort(const Instruction& sort) {
  LT_RETURN_IF_ERROR(check_arrays(sort, 1));  // (C1)
  if (sort.operands.empty()) return broken(sort, 1, "needs an operand");
  const Shape& first = sort.operand(0).shape;
  std::vector<Shape> scalars, results;
  for (const Instruction* operand : sort.operands) {
    if (operand->shape.dims != first.dims) return broken(sort, 1, "operands differ in extents");
    scalars.push_back(Shape::scalar(operand->shape.type));
    results.push_back(bare(operand->shape));
  }
  const int64_t dimension = sort.as<SortAttributes>().dimension;
  LT_RETURN_IF_ERROR(check_dims(sort, {dimension}, first.rank(), "dimensions", 2));  // (C2)
  LT_ASSIGN_OR_RETURN(const Signature callee, signature_of(sort, 0, 3));
  std::vector<const Shape*> pairs;
  for (const Shape& scalar : scalars) pairs.insert(pairs.end(), 2, &scalar);
  for (size_t i = 0; i < pairs.size() && i < callee.parameters.size(); ++i) {
    if (compares_in_another_precision(sort, *pairs[i], *callee.parameters[i])) pairs[i] = callee.parameters[i];
  }
  LT_RETURN_IF_ERROR(check_parameters(sort, callee, pairs, 3));  // (C3)
  if (!same_shape(*callee.result, Shape::scalar(ElementType::kPred))) {
    return broken(sort, 3, "the comparator gives " + to_string_without_layout(*callee.result) + ", not pred[]");
  }
  return one_or_tuple(std::move(results));
}

/// Bottom-up merge sort: unlike the standard library's, it terminates and stays in bounds for inconsistent comparators.
template <class ComesBefore>
Status merge_sort(std::vector<int64_t>& order, ComesBefore&& comes_before) {
  std::vector<int64_t> merged(order.size());
  for (size_t run = 1; run < order.size(); run *= 2) {
    for (size_t begin = 0; begin < order.size(); begin += 2 * run) {
      const size_t middle = std::min(begin + run, order.size());
      const size_t end = std::min(begin + 2 * run, order.size());
      size_t left = begin, right = middle;
      for (size_t to = begin; to < end; ++to) {
        bool take_right = left == middle;
        if (!take_right && right < end) {
          LT_ASSIGN_OR_RETURN(take_right, comes_before(order[right], order[left]));
        }
        merged[to] = take_right ? order[right++] : order[left++];
      }
    }
    order.swap(merged);
  }
  return {};
}

Result<Value> eval_sort(const Instruction& sort, Operands operands, EvalContext& context) {
  const auto d = static_cast<size_t>(sort.as<SortAttributes>().dimension);
  const Dims& extents = operands[0]->shape().dims;
  const int64_t stride = row_major_strides(extents)[d];
  Dims others = extents;
  others[d] = 1;
  std::vector<Literal> results = results_for(sort.shape);
  const std::vector<Instruction*> parameters = sort.called[0]->parameters();
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i]->shape.type != operands[i / 2]->shape().type) {
      return Status::unsupported("sort: a comparator of another precision than its operands is not executed");
    }
  }
  ScalarFunction comparator(*sort.called[0], context);
  const auto comes_before = [&](int64_t a, int64_t b) -> Result<bool> {
    for (size_t k = 0; k < operands.size(); ++k) {
      comparator.set(2 * k, *operands[k], a);
      comparator.set(2 * k + 1, *operands[k], b);
    }
    LT_RETURN_IF_ERROR(comparator.run());
    return comparator.holds();
  };
  std::vector<int64_t> order(static_cast<size_t>(extents[d]));
  for (const int64_t start : offsets_of(others, row_major_strides(extents))) {
    for (size_t i = 0; i < order.size(); ++i) order[i] = start + static_cast<int64_t>(i) * stride;
    const std::vector<int64_t> places = order;
    LT_RETURN_IF_ERROR(merge_sort(order, comes_before));
    for (size_t k = 0; k < results.size(); ++k) {
      for (size_t i = 0; i < order.size(); ++i) copy_element(*operands[k], order[i], results[k], places[i]);
    }
  }
  return bundled(std::move(results));
}

std::vector<OperandDimension> roles_of_sort(const Instruction& sort, size_t operand) {
  std::vector<OperandDimension> roles = same_dimensions(sort, operand);
  roles[sort.as<SortAttributes>().dimension] = {};
  return roles;
}

void extents_of_sort(ExtentRelater& r) {
  const Instruction& sort = r.instruction();
  for (const Instruction* operand : sort.operands) r.same(sort, 0, *operand, 0);
  r.same_results();
}

bool split_sort(SplitOperation& split, Attributes& attributes) {
  int64_t& d = std::get<SortAttributes>(attributes).dimension;
  d = split.result.number(d);
  return true;
}

}  // namespace

const OpRule kSortRule{.read = read_sort,
                       .print = print_sort,
                       .infer = infer_sort,
                       .eval = eval_sort,
                       .split = split_sort,
                       .slicing = sliced_in_step(roles_of_sort),
                       .extents = extents_of_sort,
                       .reads = reads_anywhere,
                       .arithmetic = kOneOperation};

}  // namespace lowtide::engine
