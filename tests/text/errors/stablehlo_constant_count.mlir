// Fewer elements than the type has.
// RUN: verify
// ERROR: expected ',' and 4 entries in dimension 0
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<4xf32>
  return %x : tensor<4xf32>
}
