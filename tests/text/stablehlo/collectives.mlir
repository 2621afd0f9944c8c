// Collectives with their groups, a computation over parts of sharded values, custom calls with all they say.
// RUN: opt --passes=
module @m attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%arg0: tensor<8x4xf32>, %arg1: tensor<3x3xf32>) -> (tensor<4x4xf32>, tensor<4x8xf32>, tensor<3x3xf32>) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"x"} (%arg2: tensor<4x4xf32>) {
      %1 = "stablehlo.all_reduce"(%arg2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
      ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
        %2 = stablehlo.add %arg3, %arg4 : tensor<f32>
        stablehlo.return %2 : tensor<f32>
      }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
      sdy.return %1 : tensor<4x4xf32>
    } : (tensor<8x4xf32>) -> tensor<4x4xf32>
    %3 = "stablehlo.all_to_all"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, concat_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<8x4xf32>) -> tensor<4x8xf32>
    %4:2 = stablehlo.custom_call @lapack_spotrf_ffi(%arg1) {backend_config = "", mhlo.backend_config = {uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]} : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<i32>)
    return %0, %3, %4#0 : tensor<4x4xf32>, tensor<4x8xf32>, tensor<3x3xf32>
  }
}

// AFTER:
// HloModule m, num_partitions=2, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=2]>}}
//
// %all_reduce.to_apply (arg3: f32[], arg4: f32[]) -> f32[] {
//   %arg3 = f32[] parameter(0)
//   %arg4 = f32[] parameter(1)
//   ROOT %add.2 = f32[] add(%arg3, %arg4)
// }
//
// %xla.sdy.manual_computation_body (arg2: f32[4,4]) -> f32[4,4] {
//   %arg2 = f32[4,4] parameter(0)
//   ROOT %all-reduce.1 = f32[4,4] all-reduce(%arg2), replica_groups={{0,1}}, use_global_device_ids=true, to_apply=%all_reduce.to_apply, channel_id=1
// }
//
// ENTRY %main (arg0: f32[8,4], arg1: f32[3,3]) -> (f32[4,4], f32[4,8], f32[3,3]) {
//   %arg0 = f32[8,4] parameter(0)
//   %custom-call.1 = f32[4,4] custom-call(%arg0), custom_call_target="xla.sdy.GlobalToLocalShape", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\"x\"}, {}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"x\"}>"}
//   %call.1 = f32[4,4] call(%custom-call.1), to_apply=%xla.sdy.manual_computation_body, frontend_attributes={inlineable="false"}
//   %custom-call.0 = f32[4,4] custom-call(%call.1), custom_call_target="xla.sdy.LocalToGlobalShape", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{}, {}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"x\"}>"}
//   %all-to-all.1 = f32[8,4] all-to-all(%arg0), replica_groups={{0,1}}, dimensions={0}, channel_id=2
//   %reshape.1 = f32[2,4,4] reshape(%all-to-all.1)
//   %transpose.1 = f32[4,2,4] transpose(%reshape.1), dimensions={1,0,2}
//   %reshape.3 = f32[4,8] reshape(%transpose.1)
//   %arg1 = f32[3,3] parameter(1)
//   %custom-call.4 = (f32[3,3]{0,1}, s32[]) custom-call(%arg1), custom_call_target="lapack_spotrf_ffi", output_to_operand_aliasing={{0}: (0, {})}, api_version=API_VERSION_TYPED_FFI, operand_layout_constraints={f32[3,3]{0,1}}, frontend_attributes={num_batch_dims="0"}, backend_config={uplo = 76 : ui8}
//   %get-tuple-element.1 = f32[3,3]{0,1} get-tuple-element(%custom-call.4), index=0
//   ROOT %tuple.1 = (f32[4,4], f32[4,8], f32[3,3]{0,1}) tuple(%custom-call.0, %reshape.3, %get-tuple-element.1)
// }
//
