// Another number of operands than the operation takes.
// RUN: verify
// ERROR: stablehlo.add: found 1 operand, expected 2
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.add"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %x : tensor<4xf32>
}
