// Locations follow whatever MLIR lets them follow: meshes, arguments, regions, functions, returns.
// RUN: opt --passes=
#loc = loc(unknown)
#loc1 = loc("x")
#loc2 = loc("step.py":3:1)
#loc3 = loc("sum"(#loc2))
module @m attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=2]> {stablehlo.mesh = {axes = [{name = "i", size = 2 : i64}]}} loc(#loc)
  func.func public @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}]>} loc("x")) -> (tensor<8x4xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"i"}, {}]>] out_shardings=[<@mesh, [{"i"}, {}]>] manual_axes={"i"} (%arg1: tensor<4x4xf32> loc("body"(#loc1))) {
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32> loc(#loc)
      %1 = stablehlo.reduce(%arg1 init: %cst) across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
       reducer(%arg2: tensor<f32> loc("a"), %arg3: tensor<f32> loc("b"))  {
        %5 = stablehlo.add %arg2, %arg3 : tensor<f32> loc(#loc3)
        stablehlo.return %5 : tensor<f32> loc(#loc3)
      } loc(#loc3)
      %2 = "stablehlo.all_reduce"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f32> loc("a"), %arg3: tensor<f32> loc("b")):
        %5 = stablehlo.add %arg2, %arg3 : tensor<f32> loc(callsite(#loc3 at "f.py":1:2))
        stablehlo.return %5 : tensor<f32> loc(#loc)
      }) : (tensor<4xf32>) -> tensor<4xf32> loc(fused<"f">[#loc3, #loc2])
      %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<4xf32>) -> tensor<4x4xf32> loc(#loc)
      %4 = sdy.sharding_constraint %3 <@mesh, [{}, {}]> : tensor<4x4xf32> loc("constraint")
      sdy.return %4 : tensor<4x4xf32> loc(#loc)
    } : (tensor<8x4xf32>) -> tensor<8x4xf32> loc("shard_map"(#loc2))
    return %0 : tensor<8x4xf32> loc(#loc)
  } loc(#loc)
} loc(#loc)

// AFTER:
// HloModule m, num_partitions=2, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["i"=2]>}}
//
// %reduce.to_apply (arg2: f32[], arg3: f32[]) -> f32[] {
//   %arg2 = f32[] parameter(0)
//   %arg3 = f32[] parameter(1)
//   ROOT %add.5 = f32[] add(%arg2, %arg3), metadata={op_name="sum" source_file="step.py" source_line=3}
// }
//
// %all_reduce.to_apply (arg2: f32[], arg3: f32[]) -> f32[] {
//   %arg2 = f32[] parameter(0)
//   %arg3 = f32[] parameter(1)
//   ROOT %add.5 = f32[] add(%arg2, %arg3), metadata={op_name="sum" source_file="step.py" source_line=3}
// }
//
// %xla.sdy.manual_computation_body (arg1: f32[4,4]) -> f32[4,4] {
//   %arg1 = f32[4,4] parameter(0)
//   %cst = f32[] constant(0)
//   %reduce.1 = f32[4] reduce(%arg1, %cst), dimensions={1}, to_apply=%reduce.to_apply, metadata={op_name="sum" source_file="step.py" source_line=3}
//   %all-reduce.2 = f32[4] all-reduce(%reduce.1), replica_groups={{0,1}}, use_global_device_ids=true, to_apply=%all_reduce.to_apply, channel_id=1, metadata={op_name="sum" source_file="step.py" source_line=3}
//   %broadcast.3 = f32[4,4] broadcast(%all-reduce.2), dimensions={0}
//   ROOT %custom-call.4 = f32[4,4] custom-call(%broadcast.3), custom_call_target="Sharding", sharding={replicated}, frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{}, {}]>]>"}, metadata={op_name="constraint"}
// }
//
// ENTRY %main (arg0: f32[8,4]) -> f32[8,4] {
//   %arg0 = f32[8,4] parameter(0), sharding={devices=[2,1]<=[2]}, frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"i\"}, {}]>"}, metadata={op_name="x"}
//   %custom-call.1 = f32[4,4] custom-call(%arg0), custom_call_target="xla.sdy.GlobalToLocalShape", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\"i\"}, {}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"i\"}>"}, metadata={op_name="shard_map" source_file="step.py" source_line=3}
//   %call.1 = f32[4,4] call(%custom-call.1), to_apply=%xla.sdy.manual_computation_body, frontend_attributes={inlineable="false"}, metadata={op_name="shard_map" source_file="step.py" source_line=3}
//   ROOT %custom-call.0 = f32[8,4] custom-call(%call.1), custom_call_target="xla.sdy.LocalToGlobalShape", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{\"i\"}, {}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"i\"}>"}, metadata={op_name="shard_map" source_file="step.py" source_line=3}
// }
//
