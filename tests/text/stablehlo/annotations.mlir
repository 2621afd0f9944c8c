// Shardings, locations and foreign attributes: known ones become HLO's, others are passed over.
// RUN: opt --passes=
#loc1 = loc("step.py":12:4 to :20)
#loc2 = loc("loss"(#loc1))
module @jit_step attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}]}}
  func.func @main(%arg0: tensor<8x4xf32> {enzymexla.memory_effects = [], sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>} loc("x"), %arg1: tensor<8x4xf32> {mhlo.sharding = "{devices=[4,1]<=[4]}", tt.x = #tt<f(a -> b)>}) -> tensor<8x4xf32> attributes {enzymexla.memory_effects = ["read", "write"]} {
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}, {?}]> : tensor<8x4xf32> loc(#loc2)
    %1 = stablehlo.add %0, %arg1 {enzymexla.guaranteed_symmetric = [#enzymexla.guaranteed<NOTGUARANTEED>]} : tensor<8x4xf32> loc("jit(step)/add"(callsite("f"("model.py":3:0) at #loc1)))
    return %1 : tensor<8x4xf32> loc(unknown)
  } loc(#loc1)
} loc(unknown)

// AFTER:
// HloModule jit_step, num_partitions=4, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=2, "y"=2]>}}
//
// ENTRY %main (arg0: f32[8,4], arg1: f32[8,4]) -> f32[8,4] {
//   %arg0 = f32[8,4] parameter(0), sharding={devices=[2,2]<=[2,2]T(1,0)}, frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"y\"}, {\"x\"}]>"}, metadata={op_name="x"}
//   %custom-call.0 = f32[8,4] custom-call(%arg0), custom_call_target="Sharding", sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}, frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{\"x\"}, {?}]>]>"}, metadata={op_name="loss" source_file="step.py" source_line=12}
//   %arg1 = f32[8,4] parameter(1), sharding={devices=[4,1]<=[4]}
//   ROOT %add.1 = f32[8,4] add(%custom-call.0, %arg1), metadata={op_name="jit(step)/add" source_file="model.py" source_line=3}
// }
//
