// A result of another shape than the operands give.
// RUN: verify
// ERROR: (V8)
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.transpose %x, dims = [0] : (tensor<4xf32>) -> tensor<5xf32>
  %1 = stablehlo.custom_call @keep(%0) {has_side_effect = true} : (tensor<5xf32>) -> tensor<f32>
  return %x : tensor<4xf32>
}
