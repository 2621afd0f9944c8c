// all-reduce, all-reduce-start, all-reduce-done: fold the operands of a group's devices element by element; all get the
// result. Operands T0[s0], T1[s1], ... give their own shapes, a tuple if there are several.
//   (C1) operands are arrays, at least one
//   (C2) the computation takes two scalars and gives one
// reduce-scatter: the same, but each device gets only its part of the result along a dimension.
//   (C1) (C2) as above
//   (C3) one dimension, in range
//   (C4) each declared result divides its operand along that dimension and is equal to it along the others; by the
//        group's size if the groups state it
// collective-reduce: the same as all-reduce, but only one device gets the result.
#include <fmt/format.h>

#include "ops/collective.h"
#include "ops/reducer_checks.h"

namespace lowtide::engine {
namespace {

Status check_reduction(const Instruction& collective) {
  LT_RETURN_IF_ERROR(check_arrays(collective, 1));  // (C1)
  if (collective.operands.empty()) return broken(collective, 1, "needs an operand");
  return check_reducer(collective, 0, 1, 2).status();  // (C2)
}

Result<Shape> infer_all_reduce(const Instruction& collective) {
  LT_RETURN_IF_ERROR(check_reduction(collective));
  return shapes_of_operands(collective);
}

Result<Shape> infer_reduce_scatter(const Instruction& collective) {
  LT_RETURN_IF_ERROR(check_reduction(collective));
  const auto& attributes = collective.as<CollectiveAttributes>();
  const auto results = declared_results(collective, collective.shape);
  if (results.empty()) return broken(collective, 4, "needs a result for each operand");
  for (size_t k = 0; k < results.size(); ++k) {
    const Shape& operand = collective.operand(k).shape;
    if (attributes.dimensions.size() != 1) return broken(collective, 3, "needs one dimension");  // (C3)
    LT_RETURN_IF_ERROR(check_dims(collective, attributes.dimensions, operand.rank(), "dimensions", 3));
    const auto d = static_cast<size_t>(attributes.dimensions[0]);
    Shape expected = bare(operand);
    const int64_t part = results[k]->dims.size() > d ? results[k]->dims[d] : 0;
    const int64_t groups = attributes.replica_groups.group_size;
    const bool divides = part > 0 ? expected.dims[d] % part == 0 && (groups == 0 || part * groups == expected.dims[d])
                                  : expected.dims[d] == 0;
    expected.dims[d] = part;
    if (!divides || !same_shape(expected, *results[k])) {  // (C4)
      return broken(collective, 4,
                    fmt::format("{} is no part of {} along dimension {}", to_string_without_layout(*results[k]),
                                to_string_without_layout(operand), d));
    }
  }
  return collective.shape;
}

Result<Shape> infer_reduce_done(const Instruction& done) { return done.operand(0).shape; }

Result<Value> eval_reduce_done(const Instruction&, Operands operands, EvalContext&) { return operands[0]; }

}  // namespace

const OpRule kAllReduceRule{.read = read_reducing_collective,
                            .print = print_reducing_collective,
                            .infer = infer_all_reduce,
                            .eval = eval_alone,
                            .slicing = kNotSliced,
                            .extents = unknown_extents,
                            .reads = reads_anywhere,
                            .arithmetic = kOneOperation};
const OpRule kAllReduceStartRule{.read = read_reducing_collective,
                                 .print = print_reducing_collective,
                                 .infer = infer_all_reduce,
                                 .eval = eval_alone,
                                 .slicing = kNotSliced,
                                 .extents = unknown_extents,
                                 .reads = reads_anywhere,
                                 .arithmetic = kOneOperation};
const OpRule kAllReduceDoneRule{.infer = infer_reduce_done,
                                .eval = eval_reduce_done,
                                .slicing = kNotSliced,
                                .extents = unknown_extents,
                                .reads = reads_anywhere,
                                .arithmetic = kOneOperation};
const OpRule kReduceScatterRule{.read = read_reducing_collective,
                                .print = print_reducing_collective,
                                .infer = infer_reduce_scatter,
                                .eval = eval_alone,
                                .slicing = kNotSliced,
                                .extents = unknown_extents,
                                .reads = reads_anywhere,
                                .arithmetic = kOneOperation};
const OpRule kCollectiveReduceRule{.read = read_reducing_collective,
                                   .print = print_reducing_collective,
                                   .infer = infer_all_reduce,
                                   .eval = eval_alone,
                                   .slicing = kNotSliced,
                                   .extents = unknown_extents,
                                   .reads = reads_anywhere,
                                   .arithmetic = kOneOperation};

}  // namespace lowtide::engine
