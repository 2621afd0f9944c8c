// Operations that StableHLO has replaced by others: torch_index_select by gather, cross-replica-sum by all-reduce.
#include <fmt/format.h>

#include "text/stablehlo/operations.h"

namespace lowtide::engine {
namespace {

using Scope = ModuleMaker::Scope;

}  // namespace

MlirRegion adding_region(ElementType type, Offset place) {
  const Shape scalar = Shape::scalar(type);
  MlirRegion region;
  region.place = place;
  region.arguments.resize(2);
  region.arguments[0].name = "lhs";
  region.arguments[1].name = "rhs";
  for (MlirArgument& argument : region.arguments) argument.type = scalar;
  MlirOperation& sum = region.operations.emplace_back();
  sum.name = "stablehlo.add";
  sum.place = place;
  sum.results = {{"sum", 1}};
  sum.operands = {{"lhs", 0, place}, {"rhs", 0, place}};
  sum.types = {scalar};
  MlirOperation& end = region.operations.emplace_back();
  end.name = "stablehlo.return";
  end.place = place;
  end.operands = {{"sum", 0, place}};
  return region;
}

/// The slices along `dim` at the indices, for each batch; the indices' dimensions replace `dim` in the result.
Status make_torch_index_select(ModuleMaker& maker, Scope& scope, const MlirOperation& operation) {
  LT_ASSIGN_OR_RETURN(const Instructions operands, maker.operands(scope, operation));
  const auto dim_text = maker.values().find(operation.attributes, "dim");
  const auto batch_text = maker.values().find(operation.attributes, "batch_dims");
  if (operands.size() != 2 || !dim_text || !batch_text || operation.types.size() != 1) {
    return maker.fault(operation.place, "torch_index_select: expected two arrays, 'dim' and 'batch_dims'");
  }
  LT_ASSIGN_OR_RETURN(int64_t dim, maker.values().integer(*dim_text));
  LT_ASSIGN_OR_RETURN(int64_t batches, maker.values().integer(*batch_text));
  const Shape &from = operands[0]->shape, &indices = operands[1]->shape;
  if (dim < 0) dim += from.rank();
  if (batches < 0) batches += indices.rank();
  if (batches < 0 || dim < batches || dim >= from.rank() || batches > indices.rank()) {
    return maker.fault(operation.place,
                       "torch_index_select: 'dim' must be a dimension of the array behind its batches");
  }
  Dims batch, offsets, sizes = from.dims;
  for (int64_t b = 0; b < batches; ++b) batch.push_back(b), sizes[b] = 1;
  sizes[dim] = 1;
  const int64_t inserted = indices.rank() - batches;
  for (int64_t d = batches; d < from.rank(); ++d) {
    if (d != dim) offsets.push_back(d < dim ? d : d - 1 + inserted);
  }
  LT_ASSIGN_OR_RETURN(Instruction * result, maker.add(scope, operation, Opcode::kGather, operation.types[0], operands,
                                                      {{"offset_dims", braced_dims(offsets)},
                                                       {"collapsed_slice_dims", braced_dims({dim})},
                                                       {"start_index_map", braced_dims({dim})},
                                                       {"operand_batching_dims", braced_dims(batch)},
                                                       {"start_indices_batching_dims", braced_dims(batch)},
                                                       {"index_vector_dim", std::to_string(indices.rank())},
                                                       {"slice_sizes", braced_dims(sizes)}}));
  maker.bind(scope, operation, result);
  return {};
}

Status make_cross_replica_sum(ModuleMaker& maker, Scope& scope, const MlirOperation& operation) {
  if (operation.types.size() != 1 || !operation.types[0].is_array()) {
    return maker.fault(operation.place, "cross-replica-sum: expected one array as result");
  }
  MlirOperation reduction = operation;
  reduction.name = "stablehlo.all_reduce";
  reduction.regions.push_back(adding_region(operation.types[0].type, operation.place));
  return maker.operation(scope, reduction);
}

}  // namespace lowtide::engine
