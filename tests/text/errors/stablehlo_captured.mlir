// A reducer that uses an array from outside.
// RUN: verify
// ERROR: stablehlo.reduce with a region that takes more than scalars from outside
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = stablehlo.slice %x [0:1] : (tensor<4xf32>) -> tensor<1xf32>
  %z = stablehlo.reshape %y : (tensor<1xf32>) -> tensor<f32>
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce"(%x, %c) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.reshape %y : (tensor<1xf32>) -> tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %x : tensor<4xf32>
}
