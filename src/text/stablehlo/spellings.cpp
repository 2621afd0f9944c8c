#include "text/stablehlo/spellings.h"

#include <unordered_map>

namespace lowtide::engine {
namespace {

using enum Spell;
using Rows = std::vector<OperationSpelling>;

const Spelling kGroups = {"replica_groups", "replica_groups", kPairs, "", "", true};
const Spelling kChannel = {"channel_handle", "channel_id", kHandle};
const Spelling kGlobalIds = {"use_global_device_ids", "use_global_device_ids", kFlag, "unit"};
const Spelling kPrecision = {"precision_config|precision", "operand_precision", kWords, "precision"};
const Spelling kResultAccuracy = {"result_accuracy", "result_accuracy", kAccuracy};
const Spelling kEpsilon = {"epsilon", "epsilon", kNumber, "f32"};
const Spelling kFeature = {"feature_index", "feature_index", kInteger, "i64", "", true};
const Spelling kWindowOf = {"", "window", kWindow};
const Spelling kSorted = {"indices_are_sorted", "indices_are_sorted", kFlag};

const Rows& rows() {
  static const Rows kRows = {
      {"broadcast_in_dim", Opcode::kBroadcast, {{"broadcast_dimensions|dims", "dimensions", kDims, "", "", true}}},
      {"iota", Opcode::kIota, {{"iota_dimension|dim", "iota_dimension", kInteger, "i64", "", true}}},
      {"transpose", Opcode::kTranspose, {{"permutation|dims", "dimensions", kDims, "", "", true}}},
      {"reverse", Opcode::kReverse, {{"dimensions|dims", "dimensions", kDims, "", "", true}}},
      {"concatenate", Opcode::kConcatenate, {{"dimension|dim", "dimensions", kOneDim, "", "", true}}},
      {"get_dimension_size", Opcode::kGetDimensionSize, {{"dimension|dim", "dimensions", kOneDim}}},
      {"set_dimension_size", Opcode::kSetDimensionSize, {{"dimension|dim", "dimensions", kOneDim}}},
      {"slice", Opcode::kSlice, {{"", "slice", kSlice}}},
      {"pad", Opcode::kPad, {{"", "padding", kPadding}}},
      {"dynamic_slice", Opcode::kDynamicSlice, {{"slice_sizes|sizes", "dynamic_slice_sizes", kDims, "", "", true}}},
      {"compare",
       Opcode::kCompare,
       {{"comparison_direction|word0", "direction", kWord, "comparison_direction"},
        {"compare_type|word1", "type", kWord, "comparison_type"}}},
      {"reduce_precision",
       Opcode::kReducePrecision,
       {{"exponent_bits", "exponent_bits", kInteger, "i32"}, {"mantissa_bits", "mantissa_bits", kInteger, "i32"}}},
      {"dot_general",
       Opcode::kDot,
       {{"dot_dimension_numbers.lhs_batching_dimensions|batching_dims.0", "lhs_batch_dims"},
        {"dot_dimension_numbers.rhs_batching_dimensions|batching_dims.1", "rhs_batch_dims"},
        {"dot_dimension_numbers.lhs_contracting_dimensions|contracting_dims.0", "lhs_contracting_dims"},
        {"dot_dimension_numbers.rhs_contracting_dimensions|contracting_dims.1", "rhs_contracting_dims"},
        kPrecision,
        {"algorithm", "algorithm", kAlgorithm}},
       {},
       "stablehlo",
       "dot"},
      {"convolution",
       Opcode::kConvolution,
       {kWindowOf,
        {"dimension_numbers|dim_numbers", "dim_labels", kDimLabels},
        {"feature_group_count", "feature_group_count", kInteger, "i64", "", true},
        {"batch_group_count", "batch_group_count", kInteger, "i64", "", true},
        kPrecision}},
      {"reduce", Opcode::kReduce, {{"dimensions", "dimensions", kDims, "", "", true}}, {"to_apply"}},
      {"map", Opcode::kMap, {{"dimensions", "dimensions", kDims, "", "", true}}, {"to_apply"}},
      {"reduce_window", Opcode::kReduceWindow, {kWindowOf}, {"to_apply"}},
      {"select_and_scatter", Opcode::kSelectAndScatter, {kWindowOf}, {"select", "scatter"}},
      {"sort", Opcode::kSort, {{"dimension", "dimensions", kOneDim}, {"is_stable", "is_stable", kFlag}}, {"to_apply"}},
      {"gather",
       Opcode::kGather,
       {{"dimension_numbers.offset_dims", "offset_dims"},
        {"dimension_numbers.collapsed_slice_dims", "collapsed_slice_dims"},
        {"dimension_numbers.operand_batching_dims", "operand_batching_dims"},
        {"dimension_numbers.start_indices_batching_dims", "start_indices_batching_dims"},
        {"dimension_numbers.start_index_map", "start_index_map"},
        {"dimension_numbers.index_vector_dim", "index_vector_dim", kInteger, "", "", true},
        {"slice_sizes", "slice_sizes", kDims, "", "", true},
        kSorted},
       {},
       "stablehlo",
       "gather"},
      {"scatter",
       Opcode::kScatter,
       {{"scatter_dimension_numbers.update_window_dims", "update_window_dims"},
        {"scatter_dimension_numbers.inserted_window_dims", "inserted_window_dims"},
        {"scatter_dimension_numbers.input_batching_dims", "input_batching_dims"},
        {"scatter_dimension_numbers.scatter_indices_batching_dims", "scatter_indices_batching_dims"},
        {"scatter_dimension_numbers.scatter_dims_to_operand_dims", "scatter_dims_to_operand_dims"},
        {"scatter_dimension_numbers.index_vector_dim", "index_vector_dim", kInteger, "", "", true},
        kSorted,
        {"unique_indices", "unique_indices", kFlag}},
       {"to_apply"},
       "stablehlo",
       "scatter"},
      {"scan",
       Opcode::kScan,
       {{"dimension", "dimensions", kOneDim}, {"is_reverse", "is_reverse", kFlag}},
       {"to_apply"},
       "chlo"},
      {"fft",
       Opcode::kFft,
       {{"fft_type|type", "fft_type", kWord, "fft_type"}, {"fft_length|length", "fft_length", kDims, "", "", true}}},
      {"cholesky", Opcode::kCholesky, {{"lower", "lower", kFlag}}},
      {"triangular_solve",
       Opcode::kTriangularSolve,
       {{"left_side", "left_side", kFlag, "", "", true},
        {"lower", "lower", kFlag, "", "", true},
        {"unit_diagonal", "unit_diagonal", kFlag, "", "", true},
        {"transpose_a", "transpose_a", kWord, "transpose"}}},
      {"rng",
       Opcode::kRng,
       {{"rng_distribution|distribution", "distribution", kLowerWord, "rng_distribution", "rng_"}}},
      {"rng_bit_generator",
       Opcode::kRngBitGenerator,
       {{"rng_algorithm|algorithm", "algorithm", kLowerWord, "rng_algorithm", "rng_"}}},
      {"batch_norm_training", Opcode::kBatchNormTraining, {kEpsilon, kFeature}},
      {"batch_norm_inference", Opcode::kBatchNormInference, {kEpsilon, kFeature}},
      {"batch_norm_grad", Opcode::kBatchNormGrad, {kEpsilon, kFeature}},
      {"all_gather", Opcode::kAllGather, {kChannel, kGroups, {"all_gather_dim", "dimensions", kOneDim}, kGlobalIds}},
      {"all_reduce", Opcode::kAllReduce, {kChannel, kGroups, kGlobalIds}, {"to_apply"}},
      {"reduce_scatter",
       Opcode::kReduceScatter,
       {kChannel, kGroups, {"scatter_dimension", "dimensions", kOneDim}, kGlobalIds},
       {"to_apply"}},
      {"collective_broadcast", Opcode::kCollectiveBroadcast, {kChannel, kGroups}},
      {"collective_permute",
       Opcode::kCollectivePermute,
       {kChannel, {"source_target_pairs", "source_target_pairs", kPairs, "", "", true}}},
      {"while", Opcode::kWhile, {}, {"condition", "body"}},
      {"if", Opcode::kConditional, {}, {"true_computation", "false_computation"}},
      {"case", Opcode::kConditional, {}, {"branch_computations"}},
      {"optimization_barrier", Opcode::kOptBarrier},
      {"get_tuple_element", Opcode::kGetTupleElement, {{"index|brackets", "index", kInteger, "i32", "", true}}},
      {"top_k", Opcode::kTopK, {{"k", "k", kInteger, "i64"}}, {}, "chlo"},
      {"topk", Opcode::kTopK, {{"k", "k", kInteger, "i64"}, {"largest", "largest", kFlag}}, {}, "mhlo"},
      {"ragged_dot",
       Opcode::kRaggedDot,
       {{"ragged_dot_dimension_numbers.lhs_batching_dimensions", "lhs_batch_dims"},
        {"ragged_dot_dimension_numbers.rhs_batching_dimensions", "rhs_batch_dims"},
        {"ragged_dot_dimension_numbers.lhs_contracting_dimensions", "lhs_contracting_dims"},
        {"ragged_dot_dimension_numbers.rhs_contracting_dimensions", "rhs_contracting_dims"},
        {"ragged_dot_dimension_numbers.lhs_ragged_dimensions", "lhs_ragged_dims"},
        {"ragged_dot_dimension_numbers.rhs_group_dimensions", "rhs_group_dims"},
        kPrecision},
       {},
       "chlo",
       "ragged_dot"},
      {"exponential", Opcode::kExponential, {kResultAccuracy}},
      {"exponential_minus_one", Opcode::kExponentialMinusOne, {kResultAccuracy}},
      {"log", Opcode::kLog, {kResultAccuracy}},
      {"log_plus_one", Opcode::kLogPlusOne, {kResultAccuracy}},
      {"logistic", Opcode::kLogistic, {kResultAccuracy}},
      {"tanh", Opcode::kTanh, {kResultAccuracy}},
      {"tan", Opcode::kTan, {kResultAccuracy}},
      {"cosine", Opcode::kCosine, {kResultAccuracy}},
      {"sine", Opcode::kSine, {kResultAccuracy}},
      {"sqrt", Opcode::kSqrt, {kResultAccuracy}},
      {"rsqrt", Opcode::kRsqrt, {kResultAccuracy}},
      {"cbrt", Opcode::kCbrt, {kResultAccuracy}},
      {"acos", Opcode::kAcos, {}, {}, "chlo"},
      {"acosh", Opcode::kAcosh, {}, {}, "chlo"},
      {"asin", Opcode::kAsin, {}, {}, "chlo"},
      {"asinh", Opcode::kAsinh, {}, {}, "chlo"},
      {"atan", Opcode::kAtan, {}, {}, "chlo"},
      {"atanh", Opcode::kAtanh, {}, {}, "chlo"},
      {"cosh", Opcode::kCosh, {}, {}, "chlo"},
      {"sinh", Opcode::kSinh, {}, {}, "chlo"},
      {"erf", Opcode::kErf, {}, {}, "chlo"},
      {"mulhi", Opcode::kMulhi, {}, {}, "chlo"},
      {"add_dependency", Opcode::kAddDependency, {}, {}, "mhlo"},
      {"stochastic_convert", Opcode::kStochasticConvert, {}, {}, "mhlo"},
  };
  return kRows;
}

}  // namespace

const OperationSpelling* spelling_of(std::string_view name) {
  static const auto kByName = [] {
    std::unordered_map<std::string_view, const OperationSpelling*> map;
    for (const OperationSpelling& row : rows()) map.emplace(row.name, &row);
    return map;
  }();
  const auto found = kByName.find(name);
  return found == kByName.end() ? nullptr : found->second;
}

const OperationSpelling* spelling_of(Opcode opcode) {
  static const auto kByOpcode = [] {
    std::unordered_map<Opcode, const OperationSpelling*> map;
    for (const OperationSpelling& row : rows()) map.emplace(row.opcode, &row);
    return map;
  }();
  const auto found = kByOpcode.find(opcode);
  return found == kByOpcode.end() ? nullptr : found->second;
}

}  // namespace lowtide::engine
