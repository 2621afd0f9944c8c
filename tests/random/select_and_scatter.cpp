/// Windows that select one of their elements, which gets what the window's source element adds.

#include <algorithm>
#include <numeric>

#include "families.h"
#include "operations.h"

namespace lowtide::engine {
namespace {

constexpr CompareDirection kSelections[] = {CompareDirection::kGe, CompareDirection::kGe, CompareDirection::kLe,
                                            CompareDirection::kGt, CompareDirection::kLt};

/// Every window holds an element of the operand: what others select is not defined.
Window random_window(Draws& choices, int64_t rank) {
  Window w;
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t size = choices.one_in(3) ? 1 : choices.between(1, 3);
    w.size.push_back(size);
    w.stride.push_back(choices.between(1, 3));
    w.pad_low.push_back(choices.below(size));
    w.pad_high.push_back(choices.below(size));
    w.lhs_dilate.push_back(1);
    w.rhs_dilate.push_back(1);
    w.rhs_reversal.push_back(false);
  }
  return w;
}

Computation* selection(Scope& scope, Draws& choices, ElementType type) {
  Scope body = scope.nested();
  Instruction* a = body.parameter(0, Shape::scalar(type), fact_of_argument(type));
  Instruction* b = body.parameter(1, Shape::scalar(type), fact_of_argument(type));
  return body.finish("selection", body.append(Opcode::kCompare, Shape::scalar(ElementType::kPred), {a, b},
                                              CompareAttributes{choices.of(kSelections)}));
}

/// Does one dimension alone order the elements of each window? Else executors may go through it in any order, as XLA
/// does by the layouts it chooses, and take another of equal elements.
bool has_one_order(const Window& window) {
  return std::count_if(window.size.begin(), window.size.end(), [](int64_t size) { return size > 1; }) <= 1;
}

/// Different numbers in random order.
Instruction* different_numbers(Scope& scope, Draws& choices, const Shape& shape) {
  auto literal = std::make_shared<Literal>(with_type(shape, ElementType::kF32));
  const auto elements = literal->data<float>();
  std::iota(elements.begin(), elements.end(), 0.0F);
  for (size_t k = elements.size(); k > 1; --k)
    std::swap(elements[k - 1], elements[choices.below(static_cast<int64_t>(k))]);
  return scope.append(Opcode::kConstant, literal->shape(), {}, ConstantAttributes{literal}, {}, false);
}

}  // namespace

Maybe fact_of_select_and_scatter(const Instruction& i, const Facts& operands) {
  if (!operands[0].exact()) return {};  // nearly equal elements would be told apart by their errors
  const Opcode op = i.called[1]->root->opcode;
  const Fact both = either(operands[1], operands[2]);
  if (op == Opcode::kMaximum || op == Opcode::kMinimum) return both;
  if (is_integral(i.shape.type)) return any_integer(i.shape.type);
  if (op != Opcode::kAdd) return {};
  double windows = 1;  // that may select the same element
  for (const int64_t size : i.as<WindowAttributes>().window.size) windows *= static_cast<double>(size);
  return sum_of(i.shape, both, 1 + std::min(windows, static_cast<double>(element_count(i.operand(1).shape))));
}

bool make_select_and_scatter(Scope& scope, Draws& choices) {
  Instruction* operand = scope.choose(choices, [](const auto& e) {
    const ElementType type = e.instruction->shape.type;
    return e.fact.exact() && has_rank(1)(e) && type != ElementType::kPred && !is_complex(type);
  });
  if (!operand) return false;
  const WindowAttributes a{random_window(choices, operand->shape.rank())};
  if (scope.for_xla() && !has_one_order(a.window)) operand = different_numbers(scope, choices, operand->shape);
  Dims dims;
  for (const int64_t extent : operand->shape.dims) {
    const auto result = windowed(extent, a.window, dims.size());
    if (!result) return false;
    dims.push_back(*result);
  }
  const ElementType type = operand->shape.type;
  const Reduction reduction = random_reduction(choices, type);
  Instruction* source = value_of_shape(scope, choices, with_dims(operand->shape, dims));
  Instruction* init = scope.constant(type, reduction.identity);
  return scope.append(Opcode::kSelectAndScatter, operand->shape, {operand, source, init}, a,
                      {selection(scope, choices, type), reducer(scope, reduction.operation, type)}) != nullptr;
}

}  // namespace lowtide::engine
