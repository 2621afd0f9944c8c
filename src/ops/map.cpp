// map: applies a scalar computation element by element.
//   operands T0[s], T1[s], ..., computation (T0[], T1[], ...) -> R[] give R[s]
//   (C1) operands are arrays of the same extents, at least one
//   (C2) dimensions are 0, 1, ..., rank - 1
//   (C3) the computation takes one scalar of each operand's type and gives a scalar
#include "ops/checks.h"
#include "ops/inlined.h"
#include "ops/reducer.h"
#include "ops/scalar_function.h"

namespace lowtide::engine {
namespace {

Status read_map(AttributeReader& reader, Instruction& map) {
  DimensionsAttributes attributes;
  LT_ASSIGN_OR_RETURN(attributes.dimensions, reader.take_dims_or("dimensions", {}));
  LT_ASSIGN_OR_RETURN(Computation * callee, reader.take_computation("to_apply"));
  map.called = {callee};
  map.attributes = std::move(attributes);
  return {};
}

void print_map(const Instruction& map, AttributeWriter& writer) {
  writer.dims("dimensions", map.as<DimensionsAttributes>().dimensions);
  writer.computation("to_apply", *map.called[0]);
}

Result<Shape> infer_map(const Instruction& map) {
  LT_RETURN_IF_ERROR(check_arrays(map, 1));  // (C1)
  if (map.operands.empty()) return broken(map, 1, "needs an operand");
  const Shape& first = map.operand(0).shape;
  std::vector<Shape> scalars;
  for (const Instruction* operand : map.operands) {
    if (operand->shape.dims != first.dims) return broken(map, 1, "operands differ in extents");
    scalars.push_back(Shape::scalar(operand->shape.type));
  }
  const Dims& dimensions = map.as<DimensionsAttributes>().dimensions;
  for (size_t d = 0; d < dimensions.size(); ++d) {
    if (dimensions[d] != static_cast<int64_t>(d)) return broken(map, 2, "dimensions must be 0, 1, ... in order");
  }
  if (dimensions.size() != first.dims.size()) return broken(map, 2, "dimensions must name every dimension");
  LT_ASSIGN_OR_RETURN(const Signature callee, signature_of(map, 0, 3));
  std::vector<const Shape*> given;
  for (const Shape& scalar : scalars) given.push_back(&scalar);
  LT_RETURN_IF_ERROR(check_parameters(map, callee, given, 3));  // (C3)
  if (!callee.result->is_array() || callee.result->rank() != 0) {
    return broken(map, 3, "the computation gives " + to_string_without_layout(*callee.result) + ", not a scalar");
  }
  return Shape::array(callee.result->type, first.dims);
}

Result<Value> eval_map(const Instruction& map, Operands operands, EvalContext& context) {
  auto result = std::make_shared<Literal>(map.shape);
  ScalarFunction function(*map.called[0], context);
  for (int64_t i = 0; i < result->size(); ++i) {
    for (size_t k = 0; k < operands.size(); ++k) function.set(k, *operands[k], i);
    LT_RETURN_IF_ERROR(function.run());
    store_element(function.result(), *result, i);
  }
  return Value(result);
}

void element_map(ElementContext& context, const Instruction& map, const Index& index, std::span<NodeId> leaves) {
  std::vector<NodeId> arguments;
  for (const Instruction* operand : map.operands) arguments.push_back(context.element(*operand, index));
  leaves[0] = context.call(*map.called[0], arguments)[0];
}

bool has_element_map(const Instruction& map) { return has_scalar_elements(*map.called[0]); }

}  // namespace

const OpRule kMapRule{.read = read_map,
                      .print = print_map,
                      .infer = infer_map,
                      .eval = eval_map,
                      .element = element_map,
                      .has_element = has_element_map,
                      .slicing = kSlicedByElement,
                      .extents = extents_by_roles,
                      .reads = reads_by_element,
                      .arithmetic = kOneOperation};

}  // namespace lowtide::engine
