// Bits that the type does not have.
// RUN: verify
// ERROR: expected hexadecimal digits that fit the type
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.constant dense<0x1FFFFFFFF> : tensor<4xf32>
  return %x : tensor<4xf32>
}
