// A float format that is none.
// RUN: verify
// ERROR: expected a format like e5m10
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.reduce_precision %x, format = 5m10 : tensor<4xf32>
  return %x : tensor<4xf32>
}
