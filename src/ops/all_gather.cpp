// all-gather: concatenates the operands of a group's devices along a dimension. Operands T0[s0], ... give shapes as
// declared, a tuple if there are several; all-gather-start gives (operands, results), all-gather-done the results.
//   (C1) operands are arrays, at least one
//   (C2) one dimension, in range
//   (C3) each declared result is a multiple of its operand along that dimension, equal along the others; the
//        multiple is the group's size if the groups state it
//   (C4) all-gather-start declares a tuple that begins with its operands; all-gather-done gives the tuple's second part
#include <fmt/format.h>

#include "ops/collective.h"

namespace lowtide::engine {
namespace {

Status check_gathered(const Instruction& gather, const Shape& declared) {
  LT_RETURN_IF_ERROR(check_arrays(gather, 1));  // (C1)
  const auto& attributes = gather.as<CollectiveAttributes>();
  const auto results = declared_results(gather, declared);
  if (gather.operands.empty() || results.empty()) return broken(gather, 1, "needs operands, and a result for each");
  for (size_t k = 0; k < results.size(); ++k) {
    const Shape& operand = gather.operand(k).shape;
    if (attributes.dimensions.size() != 1) return broken(gather, 2, "needs one dimension");  // (C2)
    LT_RETURN_IF_ERROR(check_dims(gather, attributes.dimensions, operand.rank(), "dimensions", 2));
    const auto d = static_cast<size_t>(attributes.dimensions[0]);
    Shape expected = bare(operand);
    const int64_t whole = results[k]->dims.size() > d ? results[k]->dims[d] : -1;
    const int64_t part = expected.dims[d];
    const int64_t groups = attributes.replica_groups.group_size;
    const bool multiple = part > 0 ? whole % part == 0 && (groups == 0 || whole / part == groups) : whole == 0;
    expected.dims[d] = whole;
    if (!multiple || !same_shape(expected, *results[k])) {  // (C3)
      return broken(gather, 3,
                    fmt::format("{} is not {} gathered along dimension {}", to_string_without_layout(*results[k]),
                                to_string_without_layout(operand), d));
    }
  }
  return {};
}

Result<Shape> infer_all_gather(const Instruction& gather) {
  LT_RETURN_IF_ERROR(check_gathered(gather, gather.shape));
  return gather.shape;
}

Result<Shape> infer_start(const Instruction& gather) {
  const Shape& declared = gather.shape;
  if (!declared.is_tuple() || declared.elements.size() < 2 ||
      !same_shape(declared.elements[0], shapes_of_operands(gather))) {  // (C4)
    return broken(gather, 4, "declares " + to_string_without_layout(declared) + ", not (operands, results)");
  }
  LT_RETURN_IF_ERROR(check_gathered(gather, declared.elements[1]));
  return declared;
}

Result<Shape> infer_done(const Instruction& done) {
  const Shape& started = done.operand(0).shape;
  if (!started.is_tuple() || started.elements.size() < 2) {  // (C4)
    return broken(done, 4, "takes " + to_string_without_layout(started) + ", not (operands, results)");
  }
  return started.elements[1];
}

Result<Value> eval_start(const Instruction& gather, Operands operands, EvalContext&) {
  if (!is_alone(gather)) return needs_devices(gather);
  Value all = operands.size() == 1 ? operands[0]
                                   : std::make_shared<Literal>(std::vector<Value>(operands.begin(), operands.end()));
  if (!same_shape(all->shape(), gather.shape.elements[1])) return needs_devices(gather);
  return Value(std::make_shared<Literal>(std::vector<Value>{all, all}));
}

Result<Value> eval_done(const Instruction&, Operands operands, EvalContext&) { return operands[0]->parts()[1]; }

}  // namespace

const OpRule kAllGatherRule{.read = read_collective,
                            .print = print_collective,
                            .infer = infer_all_gather,
                            .eval = eval_alone,
                            .slicing = kNotSliced,
                            .extents = unknown_extents,
                            .reads = reads_anywhere,
                            .arithmetic = kOneOperation};
const OpRule kAllGatherStartRule{.read = read_collective,
                                 .print = print_collective,
                                 .infer = infer_start,
                                 .eval = eval_start,
                                 .slicing = kNotSliced,
                                 .extents = unknown_extents,
                                 .reads = reads_anywhere,
                                 .arithmetic = kOneOperation};
const OpRule kAllGatherDoneRule{.infer = infer_done,
                                .eval = eval_done,
                                .slicing = kNotSliced,
                                .extents = unknown_extents,
                                .reads = reads_anywhere,
                                .arithmetic = kOneOperation};

}  // namespace lowtide::engine
