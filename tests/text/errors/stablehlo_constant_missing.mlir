// A constant without its value.
// RUN: verify
// ERROR: found a constant without its value
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.constant"() : () -> tensor<4xf32>
  return %x : tensor<4xf32>
}
