// An attribute that the operation needs.
// RUN: verify
// ERROR: direction
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.compare"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %x : tensor<4xf32>
}
