// Shardings of results are marked as XLA marks them; a mesh may list its devices, be one device, or stand in place.
// RUN: opt --passes=
module @m attributes {mhlo.num_partitions = 4 : i32, mhlo.frontend_attributes = {note = "say \22hi\22 {a = b}"}} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  sdy.mesh @turned = <["x"=2, "y"=2], device_ids=[3, 2, 1, 0]>
  sdy.mesh @one = <[], device_ids=[2]>
  func.func public @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@turned, [{"x"}, {"y"}]>}, %b: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@one, []>}, %c: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<mesh<["z"=4]>, [{"z"}, {}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2, "y"}p1, {?}], replicated={}>}, tensor<8x4xf32> {mhlo.sharding = "{devices=[1,4]<=[4]}"}, tensor<8x4xf32>) {
    %0 = stablehlo.add %a, %b : tensor<8x4xf32>
    %1 = stablehlo.add %0, %c : tensor<8x4xf32>
    return %0, %1, %1 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
  }
}

// AFTER:
// HloModule m, num_partitions=4, frontend_attributes={note="say \"hi\" {a = b}",xla.sdy.meshes={mesh = #sdy.mesh<["x"=2, "y"=2]>, turned = #sdy.mesh<["x"=2, "y"=2], device_ids=[3, 2, 1, 0]>, one = #sdy.mesh<[], device_ids=[2]>}}
//
// ENTRY %main (a: f32[8,4], b: f32[8,4], c: f32[8,4]) -> (f32[8,4], f32[8,4], f32[8,4]) {
//   %a = f32[8,4] parameter(0), sharding={devices=[2,2]3,2,1,0}, frontend_attributes={xla.sdy.sharding="#sdy.sharding<@turned, [{\"x\"}, {\"y\"}]>"}
//   %b = f32[8,4] parameter(1), sharding={maximal device=2}, frontend_attributes={xla.sdy.sharding="#sdy.sharding<@one, []>"}
//   %add.0 = f32[8,4] add(%a, %b)
//   %custom-call.1 = f32[8,4] custom-call(%add.0), custom_call_target="xla.sdy.FuncResultSharding", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{\"x\":(1)2, \"y\"}p1, {?}], replicated={}>]>"}
//   %c = f32[8,4] parameter(2), sharding={devices=[4,1]<=[4]}, frontend_attributes={xla.sdy.sharding="#sdy.sharding<mesh<[\"z\"=4]>, [{\"z\"}, {}]>"}
//   %add.1 = f32[8,4] add(%add.0, %c)
//   ROOT %tuple.1 = (f32[8,4], f32[8,4], f32[8,4]) tuple(%custom-call.1, %add.1, %add.1), sharding={{devices=[4,1]<=[4]}, {devices=[1,4]<=[4]}, {replicated}}
// }
//
