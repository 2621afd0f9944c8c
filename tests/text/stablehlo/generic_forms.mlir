// The generic form says the same with properties and regions.
// RUN: opt --passes=
"builtin.module"() <{sym_name = "jit_step"}> ({
  "func.func"() <{arg_attrs = [{tf.aliasing_output = 1 : i32}, {}], function_type = (tensor<4x6xf32>, tensor<3x1xi32>) -> (tensor<3x6xf32>, tensor<4x6xf32>), res_attrs = [{jax.result_info = "a"}, {}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<4x6xf32>, %arg1: tensor<3x1xi32>):
    %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 1, 6>}> : (tensor<4x6xf32>, tensor<3x1xi32>) -> tensor<3x6xf32>
    %1 = "stablehlo.scatter"(%arg0, %arg1, %0) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %3 = "stablehlo.add"(%arg2, %arg3) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%3) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<3x6xf32>) -> tensor<4x6xf32>
    %2 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %4 = "stablehlo.reduce_window"(%1, %2) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [2, 1]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 4>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %3 = "stablehlo.maximum"(%arg2, %arg3) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%3) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
    "func.return"(%0, %4) : (tensor<3x6xf32>, tensor<4x6xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32} : () -> ()

// AFTER:
// HloModule jit_step, input_output_alias={ {1}: (0, {}, may-alias) }
//
// %scatter.to_apply (arg2: f32[], arg3: f32[]) -> f32[] {
//   %arg2 = f32[] parameter(0)
//   %arg3 = f32[] parameter(1)
//   ROOT %add.3 = f32[] add(%arg2, %arg3)
// }
//
// %reduce_window.to_apply (arg2: f32[], arg3: f32[]) -> f32[] {
//   %arg2 = f32[] parameter(0)
//   %arg3 = f32[] parameter(1)
//   ROOT %maximum.3 = f32[] maximum(%arg2, %arg3)
// }
//
// ENTRY %main (arg0: f32[4,6], arg1: s32[3,1]) -> (f32[3,6], f32[4,6]) {
//   %arg0 = f32[4,6] parameter(0)
//   %arg1 = s32[3,1] parameter(1)
//   %gather.0 = f32[3,6] gather(%arg0, %arg1), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}, indices_are_sorted=true
//   %scatter.1 = f32[4,6] scatter(%arg0, %arg1, %gather.0), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, unique_indices=true, to_apply=%scatter.to_apply
//   %constant.2 = f32[] constant(-inf)
//   %reduce-window.4 = f32[4,6] reduce-window(%scatter.1, %constant.2), window={size=1x4 pad=0_0x2_1}, to_apply=%reduce_window.to_apply
//   ROOT %tuple.1 = (f32[3,6], f32[4,6]) tuple(%gather.0, %reduce-window.4)
// }
//
