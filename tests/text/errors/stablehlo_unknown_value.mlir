// A value that nothing before defines.
// RUN: verify
// ERROR: no value before this one is named '%y'
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %y : tensor<4xf32>
  return %x : tensor<4xf32>
}
