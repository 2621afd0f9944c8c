// reduce-window: folds the elements at each position of a sliding window with a computation.
//   inputs T0[s], ..., initial values T0[], ..., a window of rank(s); results [positions of the window], a tuple if
//   there are several. Taps on padding or holes contribute nothing.
//   (C1) as many initial values as inputs, at least one; they are scalars
//   (C2) inputs have the same extents
//   (C3) the window has the inputs' rank; sizes, strides and dilations are positive
//   (C4) the computation takes two scalars per input and gives one, a tuple if there are several
// Declared floats may differ in precision from the computation's result, as for reduce.
#include "ops/dimension_roles.h"
#include "ops/element_rules.h"
#include "ops/evaluations.h"
#include "ops/extents.h"
#include "ops/index_space.h"
#include "ops/reducer.h"
#include "ops/reducer_checks.h"
#include "ops/rows.h"
#include "ops/window.h"

namespace lowtide::engine {
namespace {

Status read_reduce_window(AttributeReader& reader, Instruction& reduce) {
  WindowAttributes attributes;
  LT_ASSIGN_OR_RETURN(attributes.window, reader.take_window_or_none("window"));
  LT_ASSIGN_OR_RETURN(Computation * callee, reader.take_computation("to_apply"));
  reduce.called = {callee};
  reduce.attributes = std::move(attributes);
  return {};
}

void print_reduce_window(const Instruction& reduce, AttributeWriter& writer) {
  const Window& window = reduce.as<WindowAttributes>().window;
  if (!window.size.empty()) writer.window("window", window);
  writer.computation("to_apply", *reduce.called[0]);
}

/// The result's shape with the element types of the computation.
Result<Shape> windowed_shape(const Instruction& reduce) {
  LT_ASSIGN_OR_RETURN(const size_t inputs, check_folded_inputs(reduce, 1, 2));  // (C1) (C2)
  const Window& window = reduce.as<WindowAttributes>().window;
  const Shape& first = reduce.operand(0).shape;
  LT_RETURN_IF_ERROR(check_window(reduce, window, first.dims, 3));                                 // (C3)
  LT_ASSIGN_OR_RETURN(const std::vector<ElementType> types, check_reducer(reduce, 0, inputs, 4));  // (C4)
  if (has_unbounded(reduce)) return reduce.shape;
  Dims positions;
  for (size_t d = 0; d < first.dims.size(); ++d) positions.push_back(window_positions(window, d, first.dims[d]));
  std::vector<Shape> results;
  for (const ElementType type : types) results.push_back(Shape::array(type, positions));
  return one_or_tuple(std::move(results));
}

Result<Shape> infer_reduce_window(const Instruction& reduce) {
  LT_ASSIGN_OR_RETURN(Shape shape, windowed_shape(reduce));
  return as_declared(std::move(shape), reduce.shape);
}

Result<Value> eval_reduce_window(const Instruction& reduce, Operands operands, EvalContext& context) {
  const Window& window = reduce.as<WindowAttributes>().window;
  const Dims& extents = operands[0]->shape().dims;
  LT_ASSIGN_OR_RETURN(Reducer reducer, Reducer::make(*reduce.called[0], operands, FloatSums::kRounded, context));
  LT_ASSIGN_OR_RETURN(const Shape shape, windowed_shape(reduce));
  std::vector<Literal> results = results_for(shape);
  if (results[0].size() == 0) return rounded_as(bundled(std::move(results)), reduce.shape);
  const Dims positions = results[0].shape().dims;
  Dims position(positions.size(), 0);
  int64_t at = 0;
  do {
    reducer.start();
    for (const int64_t offset : taps_of(window, position, extents)) LT_RETURN_IF_ERROR(reducer.fold(offset));
    reducer.store(results, at++);
  } while (advance(position, positions));
  return rounded_as(bundled(std::move(results)), reduce.shape);
}

std::vector<OperandDimension> roles_of_reduce_window(const Instruction& reduce, size_t operand) {
  if (2 * operand >= reduce.operands.size()) return {};
  std::vector<OperandDimension> roles;
  for (int64_t d = 0; d < reduce.operand(operand).shape.rank(); ++d) {
    roles.push_back(under_window(reduce.as<WindowAttributes>().window, static_cast<size_t>(d), d));
  }
  return roles;
}

void clip_to_rows(const Instruction& original, const RowPiece& piece, int64_t d, RowRange rows, bool at_edges,
                  Attributes& attributes) {
  Window& window = std::get<WindowAttributes>(attributes).window;
  clip_window(original, piece, rows, at_edges, window, static_cast<size_t>(d));
}

constexpr Slicing kReduceWindowSlicing{.roles = roles_of_reduce_window,
                                       .sliceable = Sliceable::kInStep,
                                       .whole = ReadWhole::kScalars,
                                       .adapt = keep_attributes,
                                       .folds = never_folds,
                                       .positions = no_positions,
                                       .rows = {.pieces = rows_under_windows, .adapt = clip_to_rows}};

void extents_of_reduce_window(ExtentRelater& r) {
  const Instruction& reduce = r.instruction();
  const Window& window = reduce.as<WindowAttributes>().window;
  extents_by_roles(r);
  for (size_t d = 0; d < window.size.size(); ++d) {
    relate_window(r, window, d, {.base = &r.of_operand(0, d), .positions = &r.mine(d)});
  }
  for (size_t k = 1; k < reduce.operands.size() / 2; ++k) r.same(reduce.operand(0), 0, reduce.operand(k), 0);
  r.same_results();
}

double terms_of_reduce_window(const Instruction& reduce) {
  double terms = 1;
  for (const int64_t size : reduce.as<WindowAttributes>().window.size) terms *= static_cast<double>(size);
  return terms;
}

void reads_of_reduce_window(OperandReads& reads) {
  const Window& window = reads.user().as<WindowAttributes>().window;
  reads.in_own_loop(reads.evaluations().count * product_of_extents(window.size));
}

}  // namespace

const OpRule kReduceWindowRule{
    .read = read_reduce_window,
    .print = print_reduce_window,
    .infer = infer_reduce_window,
    .eval = eval_reduce_window,
    .element = element_reduce_window,
    .has_element = has_element_reduce_window,
    .update = update_reduce_window,
    .has_update = has_update_reduce_window,
    .slicing = kReduceWindowSlicing,
    .extents = extents_of_reduce_window,
    .reads = reads_of_reduce_window,
    .arithmetic = {.plain = 1, .complex = 1, .code = 1, .rounds = Rounds::kAsItsBody, .terms = terms_of_reduce_window}};

}  // namespace lowtide::engine
