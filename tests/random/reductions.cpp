/// Operations that combine many elements into one, and sort.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "numbers.h"
#include "operations.h"

namespace lowtide::engine {

Computation* reducer(Scope& scope, Opcode operation, ElementType type) {
  Scope body = scope.nested();
  const Fact any = fact_of_argument(type);
  Instruction* a = body.parameter(0, Shape::scalar(type), any);
  Instruction* b = body.parameter(1, Shape::scalar(type), any);
  if (operation == Opcode::kParameter) return body.finish("assign", b);
  return body.finish(std::string(opcode_name(operation)), body.append(operation, Shape::scalar(type), {a, b}));
}

Reduction random_reduction(Draws& choices, ElementType type) {
  if (is_complex(type)) return {Opcode::kAdd, 0};
  const Fact any = is_floating(type) ? Fact{.low = -largest_allowed(type), .high = largest_allowed(type), .parts = {}}
                                     : any_integer(type);
  const Reduction of_floats[] = {
      {Opcode::kAdd, 0}, {Opcode::kAdd, 0}, {Opcode::kMaximum, any.low}, {Opcode::kMinimum, any.high}};
  const Reduction of_predicates[] = {{Opcode::kAnd, 1}, {Opcode::kOr, 0}};
  // 64-bit limits are no doubles; bounded reductions of those start from what a double can say.
  const bool wide = type_bits(type) == 64;
  const Reduction of_integers[] = {{Opcode::kAdd, 0},
                                   {Opcode::kMultiply, 1},
                                   {Opcode::kOr, 0},
                                   {Opcode::kXor, 0},
                                   {wide ? Opcode::kAdd : Opcode::kMaximum, wide ? 0 : any.low},
                                   {wide ? Opcode::kXor : Opcode::kMinimum, wide ? 0 : any.high}};
  if (is_floating(type)) return choices.of(of_floats);
  if (type == ElementType::kPred) return choices.of(of_predicates);
  return choices.of(of_integers);
}

bool make_reduce(Scope& scope, Draws& choices) {
  Instruction* operand = scope.choose(choices, [](const auto& e) { return e.instruction->shape.rank() >= 1; });
  if (!operand) return false;
  DimensionsAttributes a;
  Dims dims;
  for (int64_t d = 0; d < operand->shape.rank(); ++d) {
    if (choices.one_in(2)) {
      a.dimensions.push_back(d);
    } else {
      dims.push_back(operand->shape.dims[d]);
    }
  }
  const ElementType type = operand->shape.type;
  const Reduction reduction = random_reduction(choices, type);
  Instruction* init = scope.constant(type, reduction.identity);
  return scope.append(Opcode::kReduce, with_dims(operand->shape, dims), {operand, init}, a,
                      {reducer(scope, reduction.operation, type)}) != nullptr;
}

/// The greatest element along a dimension and its first index, by a reduction of pairs.
bool make_largest_with_index(Scope& scope, Draws& choices) {
  Instruction* operand = scope.choose(choices, [](const auto& e) {
    return e.fact.exact() && has_rank(1)(e) && type_kind(e.instruction->shape.type) != TypeKind::kPredicate &&
           type_bits(e.instruction->shape.type) < 64;
  });
  if (!operand) return false;
  const ElementType type = operand->shape.type;
  const Shape value = Shape::scalar(type), index = Shape::scalar(ElementType::kS32),
              pred = Shape::scalar(ElementType::kPred);
  Scope body = scope.nested();
  const Fact any = fact_of_argument(type), any_index = fact_of_argument(ElementType::kS32);
  Instruction* v0 = body.parameter(0, value, any);
  Instruction* i0 = body.parameter(1, index, any_index);
  Instruction* v1 = body.parameter(2, value, any);
  Instruction* i1 = body.parameter(3, index, any_index);
  Instruction* greater = body.append(Opcode::kCompare, pred, {v0, v1}, CompareAttributes{CompareDirection::kGt});
  Instruction* equal = body.append(Opcode::kCompare, pred, {v0, v1}, CompareAttributes{CompareDirection::kEq});
  Instruction* before = body.append(Opcode::kCompare, pred, {i0, i1}, CompareAttributes{CompareDirection::kLt});
  Instruction* first = body.append(Opcode::kAnd, pred, {equal, before});
  Instruction* keep = body.append(Opcode::kOr, pred, {greater, first});
  Computation* pairs = body.finish("largest", body.tuple({body.append(Opcode::kSelect, value, {keep, v0, v1}),
                                                          body.append(Opcode::kSelect, index, {keep, i0, i1})}));

  const int64_t dimension = choices.below(operand->shape.rank());
  Dims dims = operand->shape.dims;
  dims.erase(dims.begin() + dimension);
  Instruction* indices =
      scope.append(Opcode::kIota, with_type(operand->shape, ElementType::kS32), {}, IotaAttributes{dimension});
  const double lowest = is_floating(type) ? -largest_allowed(type) : any_integer(type).low;
  const Shape result = Shape::tuple({Shape::array(type, dims), Shape::array(ElementType::kS32, dims)});
  Instruction* both = scope.append(
      Opcode::kReduce, result, {operand, indices, scope.constant(type, lowest), scope.constant(ElementType::kS32, 0)},
      DimensionsAttributes{{dimension}}, {pairs});
  if (!both) return false;
  scope.element_of(both, 0);
  return scope.element_of(both, 1) != nullptr;
}

std::optional<int64_t> windowed(int64_t extent, const Window& w, size_t d) {
  const int64_t input = extent == 0 ? 0 : (extent - 1) * w.lhs_dilate[d] + 1;
  const int64_t padded = w.pad_low[d] + input + w.pad_high[d];
  const int64_t reach = (w.size[d] - 1) * w.rhs_dilate[d] + 1;
  if (padded < reach) return {};
  return (padded - reach) / w.stride[d] + 1;
}

namespace {

void add_window_dimension(Window& w, Draws& choices, int64_t largest, bool plain) {
  w.size.push_back(plain ? 1 : choices.between(1, largest));
  w.stride.push_back(plain ? 1 : choices.between(1, 2));
  w.pad_low.push_back(plain ? 0 : choices.between(0, 2));
  w.pad_high.push_back(plain ? 0 : choices.between(0, 2));
  w.lhs_dilate.push_back(!plain && choices.one_in(4) ? 2 : 1);
  w.rhs_dilate.push_back(!plain && choices.one_in(4) ? 2 : 1);
  w.rhs_reversal.push_back(false);
}

}  // namespace

bool make_reduce_window(Scope& scope, Draws& choices) {
  Instruction* operand = scope.choose(choices, has_rank(1));
  if (!operand) return false;
  WindowAttributes a;
  Dims dims;
  for (const int64_t extent : operand->shape.dims) {
    add_window_dimension(a.window, choices, 4, choices.one_in(3));
    const auto result = windowed(extent, a.window, dims.size());
    if (!result) return false;
    dims.push_back(*result);
  }
  const ElementType type = operand->shape.type;
  const Reduction reduction = random_reduction(choices, type);
  return scope.append(Opcode::kReduceWindow, with_dims(operand->shape, dims),
                      {operand, scope.constant(type, reduction.identity)}, a,
                      {reducer(scope, reduction.operation, type)}) != nullptr;
}

bool make_sort(Scope& scope, Draws& choices) {
  Instruction* key =
      scope.choose(choices, [](const auto& e) { return e.fact.exact() && e.instruction->shape.rank() >= 1; });
  if (!key || key->shape.type == ElementType::kPred || is_complex(key->shape.type)) return false;
  std::vector<Instruction*> operands = {key};
  for (int64_t more = choices.between(0, 2); more > 0; --more) {
    operands.push_back(
        scope.choose(choices, [&](const auto& e) { return e.instruction->shape.dims == key->shape.dims; }));
  }
  Scope body = scope.nested();
  std::vector<Instruction*> pair;
  std::vector<Shape> shapes;
  for (const Instruction* operand : operands) {
    const Shape scalar = Shape::scalar(operand->shape.type);
    for (int side = 0; side < 2; ++side) {
      pair.push_back(body.parameter(static_cast<int64_t>(pair.size()), scalar, fact_of_argument(scalar.type)));
    }
    shapes.push_back(operand->shape);
  }
  const auto direction = choices.one_in(2) ? CompareDirection::kLt : CompareDirection::kGt;
  Computation* before = body.finish("before", body.append(Opcode::kCompare, Shape::scalar(ElementType::kPred),
                                                          {pair[0], pair[1]}, CompareAttributes{direction}));
  const Shape result = shapes.size() == 1 ? shapes[0] : Shape::tuple(shapes);
  const SortAttributes a{choices.below(key->shape.rank()), true};
  Instruction* sorted = scope.append(Opcode::kSort, result, operands, a, {before});
  for (size_t k = 0; sorted && shapes.size() > 1 && k < shapes.size(); ++k)
    scope.element_of(sorted, static_cast<int64_t>(k));
  return sorted != nullptr;
}

bool make_dot(Scope& scope, Draws& choices) {
  Instruction* lhs = scope.choose(choices, [](const auto& e) {
    return e.instruction->shape.rank() >= 1 && e.instruction->shape.type != ElementType::kPred;
  });
  if (!lhs) return false;
  const ElementType type = lhs->shape.type;
  const auto contracted = static_cast<size_t>(choices.below(lhs->shape.rank()));
  const int64_t shared = lhs->shape.dims[contracted];
  Instruction* rhs = scope.choose(choices, [&](const auto& e) {
    const Dims& dims = e.instruction->shape.dims;
    return e.instruction->shape.type == type && std::find(dims.begin(), dims.end(), shared) != dims.end();
  });
  if (!rhs || choices.one_in(4))
    rhs = scope.constant_array(Shape::array(type, {shared, choices.between(1, 5)}), choices);
  if (!rhs) return false;
  const Dims& right = rhs->shape.dims;
  const auto at = static_cast<size_t>(std::find(right.begin(), right.end(), shared) - right.begin());
  DotAttributes a;
  a.lhs_contracting_dims = {static_cast<int64_t>(contracted)};
  a.rhs_contracting_dims = {static_cast<int64_t>(at)};
  // Other dimensions of equal extent become batch dimensions, or are contracted as well.
  std::vector<bool> left_taken(lhs->shape.dims.size()), right_taken(right.size());
  left_taken[contracted] = right_taken[at] = true;
  Dims result;
  for (size_t l = 0; l < left_taken.size(); ++l) {
    for (size_t r = 0; r < right_taken.size(); ++r) {
      if (left_taken[l] || right_taken[r] || lhs->shape.dims[l] != right[r] || choices.one_in(2)) continue;
      const bool batch = !choices.one_in(3);
      (batch ? a.lhs_batch_dims : a.lhs_contracting_dims).push_back(static_cast<int64_t>(l));
      (batch ? a.rhs_batch_dims : a.rhs_contracting_dims).push_back(static_cast<int64_t>(r));
      if (batch) result.push_back(right[r]);
      left_taken[l] = right_taken[r] = true;
    }
  }
  for (size_t l = 0; l < left_taken.size(); ++l) {
    if (!left_taken[l]) result.push_back(lhs->shape.dims[l]);
  }
  for (size_t r = 0; r < right_taken.size(); ++r) {
    if (!right_taken[r]) result.push_back(right[r]);
  }
  const bool half = type == ElementType::kBF16 || type == ElementType::kF16;
  const Shape shape = Shape::array(half && choices.one_in(2) ? ElementType::kF32 : type, result);
  if (element_count(shape) > kLargestResult) return false;
  return scope.append(Opcode::kDot, shape, {lhs, rhs}, a) != nullptr;
}

bool make_convolution(Scope& scope, Draws& choices) {
  Instruction* input = scope.choose(choices, [](const auto& e) {
    const Shape& s = e.instruction->shape;
    return (s.rank() == 3 || s.rank() == 4) && is_not_empty(e) && s.type != ElementType::kPred &&
           type_bits(s.type) >= 16;
  });
  if (!input) return false;
  // XLA:CPU adds products of integers up in another type, and cuts off what wraps.
  const double largest = std::ldexp(1.0, type_bits(input->shape.type) - 1);
  if (scope.for_xla() && is_integral(input->shape.type) && scope.fact(input).magnitude() * 1e4 > largest) return false;
  const int64_t rank = input->shape.rank();
  const auto permuted = [&] {
    Dims order(static_cast<size_t>(rank));
    std::iota(order.begin(), order.end(), 0);
    for (int64_t k = rank - 1; k > 0; --k) std::swap(order[k], order[choices.below(k + 1)]);
    return order;
  };
  const Dims in = permuted(), kernel = permuted(), out = permuted();  // batch, feature, spatial...; in, out, spatial...
  ConvolutionAttributes a;
  a.input_batch = in[0];
  a.input_feature = in[1];
  a.kernel_input_feature = kernel[0];
  a.kernel_output_feature = kernel[1];
  a.output_batch = out[0];
  a.output_feature = out[1];
  const auto extent_of = [&](int64_t d) { return input->shape.dims[d]; };
  const int64_t features = extent_of(in[1]), batch = extent_of(in[0]);
  if (features % 2 == 0 && choices.one_in(3)) a.feature_group_count = choices.one_in(2) ? 2 : features;
  if (a.feature_group_count == 1 && batch % 2 == 0 && choices.one_in(4)) a.batch_group_count = 2;
  const int64_t results = a.feature_group_count * a.batch_group_count * choices.between(1, 2);

  Dims kernel_dims(static_cast<size_t>(rank)), result(static_cast<size_t>(rank));
  kernel_dims[kernel[0]] = features / a.feature_group_count;
  kernel_dims[kernel[1]] = results;
  result[out[0]] = batch / a.batch_group_count;
  result[out[1]] = results;
  std::string in_text(static_cast<size_t>(rank), ' '), kernel_text = in_text, out_text = in_text;
  in_text[in[0]] = out_text[out[0]] = 'b';
  in_text[in[1]] = out_text[out[1]] = 'f';
  kernel_text[kernel[0]] = 'i';
  kernel_text[kernel[1]] = 'o';
  for (size_t s = 0; s + 2 < static_cast<size_t>(rank); ++s) {
    const int64_t i = in[s + 2], k = kernel[s + 2], o = out[s + 2];
    a.input_spatial.push_back(i);
    a.kernel_spatial.push_back(k);
    a.output_spatial.push_back(o);
    add_window_dimension(a.window, choices, 3, false);  // XLA reads beyond its input where padding is negative
    if (choices.one_in(4)) a.window.rhs_reversal[s] = true;
    const auto extent = windowed(extent_of(i), a.window, s);
    if (!extent) return false;
    // XLA:CPU makes a product of a window that has one place, and forgets that it is reversed.
    if (scope.for_xla() && *extent == 1) a.window.rhs_reversal[s] = false;
    kernel_dims[k] = a.window.size[s];
    result[o] = *extent;
    in_text[i] = kernel_text[k] = out_text[o] = static_cast<char>('0' + s);
  }
  a.dim_labels = in_text + "_" + kernel_text + "->" + out_text;
  Instruction* filter = scope.constant_array(with_dims(input->shape, kernel_dims), choices);
  return scope.append(Opcode::kConvolution, with_dims(input->shape, result), {input, filter}, a) != nullptr;
}

}  // namespace lowtide::engine
