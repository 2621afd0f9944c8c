// Ranges that are none.
// RUN: verify
// ERROR: expected ranges like [0:4, 2:8:2]
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.slice %x [0-1] : (tensor<4xf32>) -> tensor<1xf32>
  return %x : tensor<4xf32>
}
