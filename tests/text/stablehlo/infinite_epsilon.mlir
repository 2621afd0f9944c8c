// MLIR writes floats that no decimal number spells by their bits.
// RUN: opt --passes=
module @norms {
  func.func @main(%arg0: tensor<3x2xf32>, %arg1: tensor<2xf32>) -> tensor<3x2xf32> {
    %0 = "stablehlo.batch_norm_inference"(%arg0, %arg1, %arg1, %arg1, %arg1) <{epsilon = 0x7F800000 : f32, feature_index = 1 : i64}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
    return %0 : tensor<3x2xf32>
  }
}

// AFTER:
// HloModule norms
//
// ENTRY %main (arg0: f32[3,2], arg1: f32[2]) -> f32[3,2] {
//   %arg0 = f32[3,2] parameter(0)
//   %arg1 = f32[2] parameter(1)
//   ROOT %batch-norm-inference.0 = f32[3,2] batch-norm-inference(%arg0, %arg1, %arg1, %arg1, %arg1), epsilon=inf, feature_index=1
// }
//
