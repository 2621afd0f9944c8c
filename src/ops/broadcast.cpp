/// broadcast: repeats an array along new dimensions.
///   operand T[s] -> T[r], operand dimension i becomes result dimension dimensions[i]; r is declared
///   (C1) operand and result are arrays of one element type; in scheduled modules floats may differ in precision
///   (C2) one entry of dimensions per operand dimension
///   (C3) the entries are distinct dimensions of the result   (C4) the extents along them agree

#include <fmt/format.h>

#include "ops/dimension_roles.h"
#include "ops/dimensions.h"
#include "ops/elementwise.h"
#include "ops/evaluations.h"
#include "ops/strided.h"

namespace lowtide::engine {
namespace {

Result<Shape> infer_broadcast(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(check_operands(instruction, "C1", 1, kAnything));
  LT_RETURN_IF_ERROR(check_declared(instruction, "C1", kAnything));
  const Shape& operand = instruction.operand(0).shape;
  const Shape& result = instruction.shape;
  const Dims& dimensions = instruction.as<DimensionsAttributes>().dimensions;
  if (moved_type(instruction, operand.type) != result.type) {
    return broken(instruction, "C1",
                  fmt::format("operand and result must have one element type, got {} and {}", type_name(operand.type),
                              type_name(result.type)));
  }
  if (dimensions.size() != operand.dims.size()) {
    return broken(instruction, "C2",
                  fmt::format("dimensions has {} entries but operand {} has rank {}", dimensions.size(),
                              to_string_without_layout(operand), operand.rank()));
  }
  if (!are_distinct_dims(dimensions, result.rank())) {
    return broken(instruction, "C3",
                  fmt::format("dimensions {} must be distinct dimensions of the result {}", to_string(dimensions),
                              to_string_without_layout(result)));
  }
  for (size_t i = 0; i < dimensions.size(); ++i) {
    const int64_t extent = result.dims[dimensions[i]];
    if (!agree(operand.dims[i], extent)) {
      return broken(instruction, "C4",
                    fmt::format("operand dimension {} of extent {} lies along result dimension {} of extent {}", i,
                                operand.dims[i], dimensions[i], extent));
    }
  }
  return result;
}

Result<Value> eval_broadcast(const Instruction& instruction, Operands operands, EvalContext&) {
  LT_ASSIGN_OR_RETURN(const std::shared_ptr<Literal> result, new_array(instruction.shape));
  const Dims& extents = instruction.shape.dims;
  const Dims& dimensions = instruction.as<DimensionsAttributes>().dimensions;
  LT_ASSIGN_OR_RETURN(const Value operand, convert_elements(operands[0], instruction.shape.type));
  const Dims steps = row_major_strides(operand->shape().dims);
  StridedCopy copy{extents, row_major_strides(extents), Dims(extents.size(), 0)};
  for (size_t i = 0; i < steps.size(); ++i) copy.from_steps[dimensions[i]] = steps[i];
  copy_strided(copy, *operand, *result);
  return Value(result);
}

void element_broadcast(ElementContext& context, const Instruction& instruction, const Index& index,
                       std::span<NodeId> leaves) {
  Index from;
  for (const int64_t d : instruction.as<DimensionsAttributes>().dimensions) {
    from.push_back(index[d]);
  }
  leaves[0] = context.nest.convert(context.element(instruction.operand(0), from), instruction.shape.type);
}

std::vector<OperandDimension> roles_of_broadcast(const Instruction& instruction, size_t) {
  const Dims& dimensions = instruction.as<DimensionsAttributes>().dimensions;
  const Dims& operand = instruction.operand(0).shape.dims;
  std::vector<OperandDimension> roles(operand.size());
  for (size_t d = 0; d < dimensions.size(); ++d) {
    const bool walks = operand[d] == instruction.shape.dims[dimensions[d]];
    if (walks) roles[d] = pointwise(dimensions[d]);
  }
  return roles;
}

constexpr Slicing kBroadcastSlicing{.roles = roles_of_broadcast,
                                    .sliceable = Sliceable::kAlways,
                                    .whole = ReadWhole::kAny,
                                    .adapt = keep_attributes,
                                    .folds = never_folds,
                                    .positions = no_positions,
                                    .rows = kRowsInStep};

/// Are all new dimensions of a broadcast inside those that it keeps? Extents of 1 don't matter.
bool adds_inner_dimensions(const Instruction& broadcast) {
  const Dims& map = broadcast.as<DimensionsAttributes>().dimensions;
  const Dims& extents = broadcast.shape.dims;
  std::vector<bool> kept(extents.size(), false);
  for (const int64_t d : map) kept[d] = true;
  bool fresh = false;
  for (size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] == 1) continue;
    if (kept[d] && fresh) return false;
    fresh |= !kept[d];
  }
  return true;
}

void reads_of_broadcast(OperandReads& reads) {
  const Evaluations& e = reads.evaluations();
  const bool hoisted = e.ordered && adds_inner_dimensions(reads.user());
  reads.through(hoisted ? reads.repeats() * reads.elements() : e.count, hoisted || reads.elements() == reads.of_user());
}

}  // namespace

const OpRule kBroadcastRule{.read = read_dimensions_or_none,
                            .print = print_dimensions,
                            .infer = infer_broadcast,
                            .eval = eval_broadcast,
                            .element = element_broadcast,
                            .split = split_result_dimensions,
                            .slicing = kBroadcastSlicing,
                            .extents = extents_by_roles,
                            .reads = reads_of_broadcast,
                            .arithmetic = kQuarterOperation};

}  // namespace lowtide::engine
