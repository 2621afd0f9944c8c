// A complex number of one part.
// RUN: verify
// ERROR: expected ',' and the imaginary part
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.constant dense<(1.0)> : tensor<4xcomplex<f32>>
  return %x : tensor<4xf32>
}
