// A letter twice in one operand would be its diagonal.
// RUN: verify
// ERROR: stablehlo.unary_einsum: the diagonal "ii"
func.func @main(%x: tensor<3x3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.unary_einsum %x, config = "ii->i" : (tensor<3x3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
