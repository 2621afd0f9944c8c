// Dimensions of another number than the operand has.
// RUN: verify
// ERROR: expected one for each of the operand's 1
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<4xf32>) -> tensor<2x4xf32>
  return %x : tensor<4xf32>
}
