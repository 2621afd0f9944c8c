// A brace that nothing closes.
// RUN: verify
// ERROR: found no '}' that closes
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.abs %x : tensor<f32>
