// A result alone may be divided otherwise than what it is made of.
// RUN: opt --passes=
module @m attributes {mhlo.num_partitions = 4 : i32} {
  func.func public @main(%a: tensor<8x4xf32> {mhlo.sharding = "{devices=[4,1]<=[4]}"}) -> (tensor<8x4xf32> {mhlo.sharding = "{devices=[1,4]<=[4]}"}) {
    return %a : tensor<8x4xf32>
  }
}

// AFTER:
// HloModule m, num_partitions=4
//
// ENTRY %main (a: f32[8,4]) -> f32[8,4] {
//   %a = f32[8,4] parameter(0), sharding={devices=[4,1]<=[4]}
//   %tuple.1 = (f32[8,4]) tuple(%a)
//   ROOT %get-tuple-element.1 = f32[8,4] get-tuple-element(%tuple.1), index=0, sharding={devices=[1,4]<=[4]}
// }
//
