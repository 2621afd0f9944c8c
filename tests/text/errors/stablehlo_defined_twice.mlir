// A name given twice in one function.
// RUN: verify
// ERROR: '%0' is defined twice
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %x : tensor<4xf32>
}
