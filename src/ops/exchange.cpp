// all-to-all: device j of a group gets part j of every device. Array form: one operand T[s], split and joined along one
// dimension -> T[s]. Tuple form: operand j goes to device j; the result is a tuple of equally many parts.
//   (C1) operands are arrays, at least one
//   (C2) array form: one operand, one dimension in range, its extent a multiple of the group's size
//   (C3) tuple form: operands of one shape
// ragged-all-to-all: sends rows of operand 0 to rows of operand 1, by offsets and sizes -> the shape of operand 1.
//   (C1) as above   (C4) both arrays have one element type
// collective-broadcast: all devices of a group get the first one's operand. Operands' own shapes.   (C1) as above
// collective-permute: each target device gets the operand of its source, or zeros if it has none. Operands' own shapes;
// -start gives (operand, result, contexts..), -done the result.
//   (C1) as above   (C5) -start declares a tuple whose first two parts are operand and result; -done takes such a tuple
#include <fmt/format.h>

#include "ops/collective.h"
#include "ops/zeros.h"

namespace lowtide::engine {
namespace {

Status check_operands(const Instruction& collective) {
  LT_RETURN_IF_ERROR(check_arrays(collective, 1));  // (C1)
  if (collective.operands.empty()) return broken(collective, 1, "needs an operand");
  return {};
}

Result<Shape> infer_all_to_all(const Instruction& collective) {
  LT_RETURN_IF_ERROR(check_operands(collective));
  const auto& attributes = collective.as<CollectiveAttributes>();
  const Shape& first = collective.operand(0).shape;
  if (!collective.shape.is_tuple() && !attributes.dimensions.empty()) {
    if (collective.operands.size() != 1 || attributes.dimensions.size() != 1) {  // (C2)
      return broken(collective, 2, "the array form has one operand and one dimension");
    }
    LT_RETURN_IF_ERROR(check_dims(collective, attributes.dimensions, first.rank(), "dimensions", 2));
    const int64_t extent = first.dims[attributes.dimensions[0]];
    const int64_t groups = attributes.replica_groups.group_size;
    if (groups > 0 && extent != kUnboundedDim && extent % groups != 0) {
      return broken(collective, 2, fmt::format("can't divide extent {} among {} devices", extent, groups));
    }
    return bare(first);
  }
  std::vector<Shape> shapes;
  for (const Instruction* operand : collective.operands) {
    if (!same_shape(operand->shape, first)) {  // (C3)
      return broken(collective, 3, "the tuple form needs operands of one shape");
    }
    shapes.push_back(bare(operand->shape));
  }
  return collective.shape.is_tuple() ? Shape::tuple(std::move(shapes)) : one_or_tuple(std::move(shapes));
}

Result<Shape> infer_ragged(const Instruction& collective) {
  LT_RETURN_IF_ERROR(check_operands(collective));
  if (collective.operand(0).shape.type != collective.operand(1).shape.type) {  // (C4)
    return broken(collective, 4, "input and output differ in element type");
  }
  return bare(collective.operand(1).shape);
}

Result<Shape> infer_own_shapes(const Instruction& collective) {
  LT_RETURN_IF_ERROR(check_operands(collective));
  if (collective.shape.is_tuple() && collective.operands.size() == 1) {
    return Shape::tuple({bare(collective.operand(0).shape)});
  }
  return shapes_of_operands(collective);
}

/// Operands: the arrays; or, in the in-place form, (input, output, input offset, output offset) with offsets that are
/// integer scalars or tuples.
Result<Shape> infer_permute(const Instruction& collective) {
  if (collective.operands.size() == 4 && !collective.operand(2).shape.dims.empty()) return collective.shape;
  if (collective.operands.size() == 4 && collective.operand(0).shape.is_tuple()) return collective.shape;
  return infer_own_shapes(collective);
}

Result<Shape> infer_start(const Instruction& collective) {
  const Shape& declared = collective.shape;
  if (collective.operands.empty() || !declared.is_tuple() || declared.elements.size() < 2) {  // (C5)
    return broken(collective, 5, "declares " + to_string_without_layout(declared) + ", not (operand, result, ..)");
  }
  const bool single = collective.operands.size() == 1;
  if (single && (!same_shape(declared.elements[0], collective.operand(0).shape) ||
                 !same_shape(declared.elements[1], collective.operand(0).shape))) {
    return broken(collective, 5,
                  "declares " + to_string_without_layout(declared) + " of " +
                      to_string_without_layout(collective.operand(0).shape));
  }
  return declared;
}

Result<Shape> infer_done(const Instruction& done) {
  const Shape& started = done.operand(0).shape;
  if (!started.is_tuple() || started.elements.size() < 2) {  // (C5)
    return broken(done, 5, "takes " + to_string_without_layout(started) + ", not (operand, result, ..)");
  }
  return started.elements[1];
}

/// `{{0,0}}` keeps device 0's value; without that pair device 0 gets zeros.
bool keeps_own(const Instruction& collective) {
  std::string pairs;
  for (const char c : collective.as<CollectiveAttributes>().source_target_pairs) {
    if (c != ' ') pairs += c;
  }
  return pairs.find("{0,0}") != std::string::npos;
}

Result<Value> eval_permute(const Instruction& collective, Operands operands, EvalContext& context) {
  if (is_alone(collective) && !keeps_own(collective)) return zeros_of(collective.shape);
  return eval_alone(collective, operands, context);
}

Result<Value> eval_permute_start(const Instruction& collective, Operands operands, EvalContext&) {
  if (!is_alone(collective)) return needs_devices(collective);
  LT_ASSIGN_OR_RETURN(const Value zeros, zeros_of(collective.shape));
  std::vector<Value> parts = zeros->parts();
  parts[0] = operands.size() == 1 ? operands[0]
                                  : std::make_shared<Literal>(std::vector<Value>(operands.begin(), operands.end()));
  if (keeps_own(collective)) parts[1] = parts[0];
  for (size_t k = 0; k < 2; ++k) {
    if (!same_shape(parts[k]->shape(), collective.shape.elements[k])) return needs_devices(collective);
  }
  return Value(std::make_shared<Literal>(std::move(parts)));
}

Result<Value> eval_done(const Instruction&, Operands operands, EvalContext&) { return operands[0]->parts()[1]; }

}  // namespace

const OpRule kAllToAllRule{.read = read_collective,
                           .print = print_collective,
                           .infer = infer_all_to_all,
                           .eval = eval_alone,
                           .slicing = kNotSliced,
                           .extents = unknown_extents,
                           .reads = reads_anywhere,
                           .arithmetic = kOneOperation};
const OpRule kRaggedAllToAllRule{.read = read_collective,
                                 .print = print_collective,
                                 .infer = infer_ragged,
                                 .slicing = kNotSliced,
                                 .extents = unknown_extents,
                                 .reads = reads_anywhere,
                                 .arithmetic = kOneOperation};
const OpRule kCollectiveBroadcastRule{.read = read_collective,
                                      .print = print_collective,
                                      .infer = infer_own_shapes,
                                      .eval = eval_alone,
                                      .slicing = kNotSliced,
                                      .extents = unknown_extents,
                                      .reads = reads_anywhere,
                                      .arithmetic = kOneOperation};
const OpRule kCollectivePermuteRule{.read = read_collective,
                                    .print = print_collective,
                                    .infer = infer_permute,
                                    .eval = eval_permute,
                                    .slicing = kNotSliced,
                                    .extents = unknown_extents,
                                    .reads = reads_anywhere,
                                    .arithmetic = kOneOperation};
const OpRule kCollectivePermuteStartRule{.read = read_collective,
                                         .print = print_collective,
                                         .infer = infer_start,
                                         .eval = eval_permute_start,
                                         .slicing = kNotSliced,
                                         .extents = unknown_extents,
                                         .reads = reads_anywhere,
                                         .arithmetic = kOneOperation};
const OpRule kCollectivePermuteDoneRule{.infer = infer_done,
                                        .eval = eval_done,
                                        .slicing = kNotSliced,
                                        .extents = unknown_extents,
                                        .reads = reads_anywhere,
                                        .arithmetic = kOneOperation};

}  // namespace lowtide::engine
