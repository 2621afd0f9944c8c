// A list with something that is no integer.
// RUN: verify
// ERROR: expected a list of integers
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.transpose %x, dims = [a] : (tensor<4xf32>) -> tensor<4xf32>
  return %x : tensor<4xf32>
}
