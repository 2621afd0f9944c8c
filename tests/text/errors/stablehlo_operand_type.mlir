// A type given to an operand that is not its own.
// RUN: verify
// ERROR: '%x' is tensor<4xf32>, but its type is given as tensor<5xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.reshape %x : (tensor<5xf32>) -> tensor<5x1xf32>
  return %x : tensor<4xf32>
}
