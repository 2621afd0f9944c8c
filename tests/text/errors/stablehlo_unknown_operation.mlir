// An operation that there is not.
// RUN: verify
// ERROR: no operation of HLO is known for 'stablehlo.ad'
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.ad %x, %x : tensor<4xf32>
  return %x : tensor<4xf32>
}
