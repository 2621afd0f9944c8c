// A blob of another length than the type has.
// RUN: verify
// ERROR: expected 16 bytes for 4 elements
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.constant dense<"0x0000000000000000"> : tensor<4xf32>
  return %x : tensor<4xf32>
}
