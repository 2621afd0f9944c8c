// select-and-scatter: sends each source element to the operand element that its window selects.
//   operand T[s], source T[positions of the window], init T[] -> T[s]: all init; for each window position, in row-major
//   order, the first element that `select` prefers to all others becomes `scatter`(its old value, source element).
//   (C1) operand and source are arrays of one element type, init a scalar of it
//   (C2) the window has the operand's rank; sizes, strides and dilations are positive
//   (C3) the source has the extents of the window's positions
//   (C4) select takes two scalars of the element type and gives pred[]
//   (C5) scatter takes two scalars of the element type and gives one
#include "ops/dimension_roles.h"
#include "ops/element_rules.h"
#include "ops/evaluations.h"
#include "ops/extents.h"
#include "ops/index_space.h"
#include "ops/reducer.h"
#include "ops/reducer_checks.h"
#include "ops/scalar_function.h"
#include "ops/window.h"

namespace lowtide::engine {
namespace {

Status read_select_and_scatter(AttributeReader& reader, Instruction& instruction) {
  WindowAttributes attributes;
  LT_ASSIGN_OR_RETURN(attributes.window, reader.take_window_or_none("window"));
  LT_ASSIGN_OR_RETURN(Computation * select, reader.take_computation("select"));
  LT_ASSIGN_OR_RETURN(Computation * scatter, reader.take_computation("scatter"));
  instruction.called = {select, scatter};
  instruction.attributes = std::move(attributes);
  return {};
}

void print_select_and_scatter(const Instruction& instruction, AttributeWriter& writer) {
  const Window& window = instruction.as<WindowAttributes>().window;
  if (!window.size.empty()) writer.window("window", window);
  writer.computation("select", *instruction.called[0]);
  writer.computation("scatter", *instruction.called[1]);
}

Result<Shape> infer_select_and_scatter(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(check_arrays(instruction, 1));
  const Shape& operand = instruction.operand(0).shape;
  const Shape& source = instruction.operand(1).shape;
  const Shape scalar = Shape::scalar(operand.type);
  if (source.type != operand.type || !same_shape(instruction.operand(2).shape, scalar)) {  // (C1)
    return broken(instruction, 1, "operand, source and init differ in element type, or init is no scalar");
  }
  const Window& window = instruction.as<WindowAttributes>().window;
  LT_RETURN_IF_ERROR(check_window(instruction, window, operand.dims, 2));  // (C2)
  if (source.rank() != operand.rank()) return broken(instruction, 3, "source and operand differ in rank");
  for (size_t d = 0; d < operand.dims.size() && !has_unbounded(instruction); ++d) {
    if (window_positions(window, d, operand.dims[d]) != source.dims[d]) {  // (C3)
      return broken(instruction, 3,
                    "source " + to_string_without_layout(source) + " is not what the window gives over " +
                        to_string_without_layout(operand));
    }
  }
  LT_ASSIGN_OR_RETURN(const Signature select, signature_of(instruction, 0, 4));
  LT_RETURN_IF_ERROR(check_parameters(instruction, select, {&scalar, &scalar}, 4));  // (C4)
  if (!same_shape(*select.result, Shape::scalar(ElementType::kPred))) {
    return broken(instruction, 4, "select gives " + to_string_without_layout(*select.result) + ", not pred[]");
  }
  LT_ASSIGN_OR_RETURN(const Signature scatter, signature_of(instruction, 1, 5));
  LT_RETURN_IF_ERROR(check_parameters(instruction, scatter, {&scalar, &scalar}, 5));  // (C5)
  if (!same_shape(*scatter.result, scalar)) {
    return broken(instruction, 5, "scatter gives " + to_string_without_layout(*scatter.result));
  }
  return bare(operand);
}

Result<Value> eval_select_and_scatter(const Instruction& instruction, Operands operands, EvalContext& context) {
  const Window& window = instruction.as<WindowAttributes>().window;
  const Literal& operand = *operands[0];
  const Literal& source = *operands[1];
  auto result = std::make_shared<Literal>(instruction.shape);
  for (int64_t i = 0; i < result->size(); ++i) store_scalar(*operands[2], *result, i);
  if (source.size() == 0) return Value(result);
  ScalarFunction stays(*instruction.called[0], context), scatter(*instruction.called[1], context);
  Dims position(source.shape().dims.size(), 0);
  int64_t from = 0;
  do {
    int64_t selected = -1;
    for (const int64_t candidate : taps_of(window, position, operand.shape().dims)) {
      if (selected >= 0) {
        stays.set(0, operand, selected);
        stays.set(1, operand, candidate);
        LT_RETURN_IF_ERROR(stays.run());
        if (stays.holds()) continue;
      }
      selected = candidate;
    }
    if (selected >= 0) {
      scatter.set(0, *result, selected);
      scatter.set(1, source, from);
      LT_RETURN_IF_ERROR(scatter.run());
      store_element(scatter.result(), *result, selected);
    }
    ++from;
  } while (advance(position, source.shape().dims));
  return Value(result);
}

/// Dimensions along which every window is one element, at its own index, are pointwise.
std::vector<OperandDimension> roles_of_select_and_scatter(const Instruction& instruction, size_t operand) {
  if (operand >= 2) return {};
  const Window& window = instruction.as<WindowAttributes>().window;
  std::vector<OperandDimension> roles(instruction.operand(operand).shape.dims.size());
  for (size_t d = 0; d < roles.size(); ++d) {
    const bool padded = window.pad_low[d] != 0 || window.pad_high[d] != 0;
    const bool whole = window.size[d] == 1 && window.stride[d] == 1 && window.lhs_dilate[d] == 1 && !padded;
    if (whole) roles[d] = pointwise(static_cast<int64_t>(d));
  }
  return roles;
}

void extents_of_select_and_scatter(ExtentRelater& r) {
  const Instruction& i = r.instruction();
  const Window& window = i.as<WindowAttributes>().window;
  extents_by_roles(r);
  r.same(i, 0, i.operand(0), 0);
  for (size_t d = 0; d < window.size.size(); ++d) {
    relate_window(r, window, d, {.base = &r.of_operand(0, d), .positions = &r.of_operand(1, d)});
  }
}

void reads_of_select_and_scatter(OperandReads& reads) {
  const Window& window = reads.user().as<WindowAttributes>().window;
  reads.in_own_loop(reads.evaluations().count * product_of_extents(window.size));
}

}  // namespace

const OpRule kSelectAndScatterRule{.read = read_select_and_scatter,
                                   .print = print_select_and_scatter,
                                   .infer = infer_select_and_scatter,
                                   .eval = eval_select_and_scatter,
                                   .element = element_select_and_scatter,
                                   .has_element = has_element_select_and_scatter,
                                   .update = update_select_and_scatter,
                                   .has_update = has_element_select_and_scatter,
                                   .slicing = sliced_in_step(roles_of_select_and_scatter),
                                   .extents = extents_of_select_and_scatter,
                                   .reads = reads_of_select_and_scatter,
                                   .arithmetic = kOneOperation};

}  // namespace lowtide::engine
