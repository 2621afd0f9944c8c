#include "text/bytecode/vhlo_operations.h"

#include <array>
#include <string>
#include <unordered_map>

namespace lowtide::engine {
namespace {

/// Operations without properties, all of them in their first version.
constexpr std::string_view kPlainOperations =
    "abs add after_all and atan2 bitcast_convert case ceil clamp complex convert count_leading_zeros create_token "
    "divide dynamic_pad dynamic_reshape dynamic_update_slice floor if imag is_finite maximum minimum multiply negate "
    "not optimization_barrier or partition_id popcnt power real real_dynamic_slice remainder replica_id reshape return "
    "round_nearest_afz round_nearest_even select shift_left shift_right_arithmetic shift_right_logical sign subtract "
    "tuple uniform_dequantize uniform_quantize while xor";

/// Functions with a result accuracy, which they have since their second version.
constexpr std::string_view kFunctions =
    "cbrt cosine exponential exponential_minus_one log log_plus_one logistic rsqrt sine sqrt tan tanh";

struct Versions {
  int first, last;  ///< versions [first, last] have these properties
  std::string_view name, properties;
};

constexpr std::array kRows = {
    Versions{1, 2, "all_gather", "all_gather_dim channel_id replica_groups use_global_device_ids"},
    Versions{1, 2, "all_reduce", "channel_id replica_groups use_global_device_ids"},
    Versions{1, 2, "all_to_all", "channel_id concat_dimension replica_groups split_count split_dimension"},
    Versions{1, 1, "async_done", ""},
    Versions{1, 1, "async_start", ""},
    Versions{1, 1, "batch_norm_grad", "epsilon feature_index"},
    Versions{1, 1, "batch_norm_inference", "epsilon feature_index"},
    Versions{1, 1, "batch_norm_training", "epsilon feature_index"},
    Versions{1, 1, "broadcast", "broadcast_sizes"},
    Versions{1, 1, "broadcast_in_dim", "broadcast_dimensions"},
    Versions{1, 1, "call", "callee"},
    Versions{1, 1, "cholesky", "lower"},
    Versions{1, 1, "collective_broadcast", "channel_id replica_groups"},
    Versions{2, 2, "collective_broadcast", "channel_id has_dynamic_root replica_groups"},
    Versions{1, 1, "collective_permute", "channel_id source_target_pairs"},
    Versions{1, 1, "compare", "compare_type comparison_direction"},
    Versions{1, 2, "composite", "composite_attributes decomposition name version"},
    Versions{1, 1, "concatenate", "dimension"},
    Versions{1, 1, "constant", "value"},
    Versions{1, 1, "convolution",
             "batch_group_count feature_group_count input_batch_dimension input_feature_dimension "
             "input_spatial_dimensions kernel_input_feature_dimension kernel_output_feature_dimension "
             "kernel_spatial_dimensions lhs_dilation output_batch_dimension output_feature_dimension "
             "output_spatial_dimensions padding precision_config rhs_dilation window_reversal window_strides"},
    Versions{1, 1, "cross-replica-sum", "replica_groups"},
    Versions{1, 1, "custom_call",
             "api_version backend_config call_target_name called_computations has_side_effect operand_layouts "
             "output_operand_aliases result_layouts"},
    Versions{2, 2, "custom_call",
             "api_version backend_config call_target_name called_computations has_side_effect operand_layouts "
             "output_operand_aliases result_layouts result_tilings"},
    Versions{1, 1, "dot", "precision_config"},
    Versions{1, 1, "dot_general",
             "lhs_batching_dimensions lhs_contracting_dimensions precision_config rhs_batching_dimensions "
             "rhs_contracting_dimensions"},
    Versions{2, 2, "dot_general",
             "accumulation_type allow_imprecise_accumulation lhs_batching_dimensions lhs_component_count "
             "lhs_contracting_dimensions lhs_precision_type num_primitive_operations precision_config "
             "rhs_batching_dimensions rhs_component_count rhs_contracting_dimensions rhs_precision_type"},
    Versions{1, 1, "dynamic_broadcast_in_dim",
             "broadcast_dimensions known_expanding_dimensions known_nonexpanding_dimensions"},
    Versions{1, 1, "dynamic_conv",
             "batch_group_count feature_group_count input_batch_dimension input_feature_dimension "
             "input_spatial_dimensions kernel_input_feature_dimension kernel_output_feature_dimension "
             "kernel_spatial_dimensions lhs_dilation output_batch_dimension output_feature_dimension "
             "output_spatial_dimensions padding precision_config rhs_dilation window_reversal window_strides"},
    Versions{2, 2, "dynamic_conv",
             "batch_group_count feature_group_count input_batch_dimension input_feature_dimension "
             "input_spatial_dimensions kernel_input_feature_dimension kernel_output_feature_dimension "
             "kernel_spatial_dimensions lhs_dilation output_batch_dimension output_feature_dimension "
             "output_spatial_dimensions precision_config rhs_dilation window_reversal window_strides"},
    Versions{1, 1, "dynamic_gather",
             "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims start_index_map"},
    Versions{2, 2, "dynamic_gather",
             "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims operand_batching_dims "
             "start_index_map start_indices_batching_dims"},
    Versions{1, 1, "dynamic_iota", "iota_dimension"},
    Versions{1, 1, "dynamic_slice", "slice_sizes"},
    Versions{1, 1, "einsum", "einsum_config"},
    Versions{1, 1, "fft", "fft_length fft_type"},
    Versions{1, 1, "func", "arg_attrs function_type res_attrs sym_name sym_visibility"},
    Versions{1, 1, "gather",
             "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims slice_sizes start_index_map"},
    Versions{2, 2, "gather",
             "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims operand_batching_dims slice_sizes "
             "start_index_map start_indices_batching_dims"},
    Versions{1, 1, "get_dimension_size", "dimension"},
    Versions{1, 1, "get_tuple_element", "index"},
    Versions{1, 1, "infeed", "infeed_config layout"},
    Versions{1, 1, "iota", "iota_dimension"},
    Versions{1, 1, "map", "dimensions"},
    Versions{1, 1, "outfeed", "outfeed_config"},
    Versions{1, 1, "pad", "edge_padding_high edge_padding_low interior_padding"},
    Versions{1, 1, "recv", "channel_id channel_type is_host_transfer"},
    Versions{2, 2, "recv", "channel_id channel_type is_host_transfer source_target_pairs"},
    Versions{1, 1, "reduce", "dimensions"},
    Versions{1, 1, "reduce_precision", "exponent_bits mantissa_bits"},
    Versions{1, 1, "reduce_scatter", "channel_id replica_groups scatter_dimension use_global_device_ids"},
    Versions{1, 1, "reduce_window", "base_dilations padding window_dilations window_dimensions window_strides"},
    Versions{1, 1, "reverse", "dimensions"},
    Versions{1, 1, "rng", "rng_distribution"},
    Versions{1, 1, "rng_bit_generator", "rng_algorithm"},
    Versions{1, 1, "scatter",
             "index_vector_dim indices_are_sorted inserted_window_dims scatter_dims_to_operand_dims unique_indices "
             "update_window_dims"},
    Versions{2, 2, "scatter",
             "index_vector_dim indices_are_sorted input_batching_dims inserted_window_dims "
             "scatter_dims_to_operand_dims scatter_indices_batching_dims unique_indices update_window_dims"},
    Versions{1, 1, "select_and_scatter", "padding window_dimensions window_strides"},
    Versions{1, 1, "send", "channel_id channel_type is_host_transfer"},
    Versions{2, 2, "send", "channel_id channel_type is_host_transfer source_target_pairs"},
    Versions{1, 1, "set_dimension_size", "dimension"},
    Versions{1, 1, "slice", "limit_indices start_indices strides"},
    Versions{1, 1, "sort", "dimension is_stable"},
    Versions{1, 1, "torch_index_select", "batch_dims dim"},
    Versions{1, 1, "transpose", "permutation"},
    Versions{1, 1, "triangular_solve", "left_side lower transpose_a unit_diagonal"},
    Versions{1, 1, "unary_einsum", "einsum_config"},
};

using Table = std::unordered_map<std::string, VhloOperation>;

template <class F>
void for_each_word(std::string_view words, F&& take) {
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    take(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
}

Table make_table() {
  Table table;
  for_each_word(kPlainOperations, [&](std::string_view name) { table[std::string(name) + "_v1"] = {name, ""}; });
  for_each_word(kFunctions, [&](std::string_view name) {
    table[std::string(name) + "_v1"] = {name, ""};
    table[std::string(name) + "_v2"] = {name, "result_accuracy"};
  });
  for (const Versions& row : kRows) {
    for (int version = row.first; version <= row.last; ++version) {
      table[std::string(row.name) + "_v" + std::to_string(version)] = {row.name, row.properties};
    }
  }
  return table;
}

}  // namespace

const VhloOperation* vhlo_operation(std::string_view versioned) {
  static const Table kTable = make_table();
  const auto found = kTable.find(std::string(versioned));
  return found == kTable.end() ? nullptr : &found->second;
}

std::string newest_vhlo_name(std::string_view name) {
  // The second versions of these operations are newer than VHLO 1.13.0.
  const bool is_first = name == "collective_broadcast" || name == "composite" || name == "custom_call";
  for (int version = is_first ? 1 : 2; version > 0; --version) {
    std::string versioned = std::string(name) + "_v" + std::to_string(version);
    if (vhlo_operation(versioned)) return versioned;
  }
  return {};
}

std::string_view foreign_properties(std::string_view dialect, std::string_view name) {
  struct Foreign {
    std::string_view dialect, name, properties;
  };
  constexpr std::array kForeign = {
      Foreign{"builtin", "module", "sym_name? sym_visibility?"},
      Foreign{"sdy", "mesh", "mesh sym_name"},
      Foreign{"sdy", "manual_computation", "in_shardings manual_axes out_shardings"},
      Foreign{"sdy", "reshard", "sharding"},
      Foreign{"sdy", "sharding_constraint", "sharding"},
      Foreign{"chlo", "constant_like", "value"},
      Foreign{"chlo", "top_k", "k"},
      Foreign{"mhlo", "topk", "k largest?"},
  };
  for (const Foreign& row : kForeign) {
    if (row.dialect == dialect && row.name == name) return row.properties;
  }
  // A comparison has others as well, of types that only chlo has; a selection has none.
  const bool is_broadcast = dialect == "chlo" && name.starts_with("broadcast_");
  if (is_broadcast && name != "broadcast_compare" && name != "broadcast_select") return "broadcast_dimensions?";
  return {};
}

}  // namespace lowtide::engine
