// Slices are chosen after the batches.
// RUN: verify
// ERROR: torch_index_select: 'dim' must be a dimension of the array behind its batches
func.func @main(%x: tensor<4x4xf32>, %k: tensor<4xi32>) -> tensor<4xf32> {
  %0 = "stablehlo.torch_index_select"(%x, %k) <{batch_dims = 1 : i64, dim = 0 : i64}> : (tensor<4x4xf32>, tensor<4xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
