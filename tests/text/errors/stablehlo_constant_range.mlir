// A number that the type does not hold.
// RUN: verify
// ERROR: expected an integer within the range of the type
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.constant dense<300> : tensor<4xi8>
  return %x : tensor<4xf32>
}
