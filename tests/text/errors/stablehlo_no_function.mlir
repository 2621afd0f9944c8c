// A call of nothing.
// RUN: verify
// ERROR: no function is named '@g'
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %x : tensor<4xf32>
}
