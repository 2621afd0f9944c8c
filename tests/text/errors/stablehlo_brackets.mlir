// Brackets that do not match.
// RUN: verify
// ERROR: with matching brackets
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.abs"(%x) {a = [1, 2} : (tensor<4xf32>) -> tensor<4xf32>
  return %x : tensor<4xf32>
}
