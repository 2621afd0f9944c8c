// A letter of the result that no operand has.
// RUN: verify
// ERROR: no operand of "ij,jk->il" has 'l'
func.func @main(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %0 = stablehlo.einsum %x, %x, config = "ij,jk->il" : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}
