// An operation without its region.
// RUN: verify
// ERROR: stablehlo.sort: found 0 regions, expected 1
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
  return %x : tensor<4xf32>
}
