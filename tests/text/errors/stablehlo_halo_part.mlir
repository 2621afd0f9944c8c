// A halo that is wider than the array it is taken from.
// RUN: verify
// ERROR: enzymexla.wrap: 'lhs' must be in 0..4
func.func @main(%x: tensor<4xf32>) -> tensor<9xf32> {
  %0 = "enzymexla.wrap"(%x) <{dimension = 0 : i64, lhs = 5 : i64, rhs = 0 : i64}> : (tensor<4xf32>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}
