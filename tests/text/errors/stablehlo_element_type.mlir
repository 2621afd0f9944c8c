// An element type that there is not.
// RUN: verify
// ERROR: found 'f33', expected an element type
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf33>
  return %x : tensor<4xf32>
}
