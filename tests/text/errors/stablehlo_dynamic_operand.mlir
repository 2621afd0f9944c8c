// A padding that is not known before it runs.
// RUN: verify
// ERROR: 'dynamic_pad' whose edge_padding_low isn't a constant
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %p = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi64>
  %q = stablehlo.slice %p [0:1] : (tensor<4xi64>) -> tensor<1xi64>
  %0 = stablehlo.dynamic_pad %x, %c, %q, %q, %q : (tensor<4xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<5xf32>
  return %x : tensor<4xf32>
}
