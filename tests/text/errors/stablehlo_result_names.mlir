// Another number of names than results.
// RUN: verify
// ERROR: found names for 2 results and 1 types
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = "stablehlo.abs"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %x : tensor<4xf32>
}
