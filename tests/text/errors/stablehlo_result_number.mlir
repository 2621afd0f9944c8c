// A result that the operation does not have.
// RUN: verify
// ERROR: '%x' has 1 result, found '#1'
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x#1 : tensor<4xf32>
  return %x : tensor<4xf32>
}
