// A tensor without rank.
// RUN: verify
// ERROR: expected a tensor of known rank
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<*xf32>
  return %x : tensor<4xf32>
}
