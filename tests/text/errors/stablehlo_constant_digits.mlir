// A blob with a digit that is none.
// RUN: verify
// ERROR: found 'G
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.constant dense<"0xG0000000"> : tensor<f32>
  return %x : tensor<4xf32>
}
