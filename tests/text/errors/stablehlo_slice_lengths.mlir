// Starts and limits of different numbers.
// RUN: verify
// ERROR: found lists of different lengths
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.slice"(%x) <{start_indices = array<i64: 0, 0>, limit_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<4xf32>) -> tensor<1xf32>
  return %x : tensor<4xf32>
}
