// A function without a return.
// RUN: verify
// ERROR: found a block without a return at its end
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.abs %x : tensor<f32>
}
