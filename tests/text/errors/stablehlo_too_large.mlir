// More elements than anything holds.
// RUN: verify
// ERROR: this array has more than 1 PiB
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.iota dim = 0 : tensor<99999999x99999999x9999xf32>
  return %x : tensor<4xf32>
}
