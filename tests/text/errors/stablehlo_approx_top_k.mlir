// More elements than the array has can't be its first ones.
// RUN: verify
// ERROR: ApproxTopK: a result isn't the first elements of its array
func.func @main(%x: tensor<4xf32>, %i: tensor<f32>) -> tensor<5xf32> {
  %0 = stablehlo.custom_call @ApproxTopK(%x, %i) {called_computations = [@greater], mhlo.backend_config = {reduction_dim = 0 : i64, top_k = 5 : i64}} : (tensor<4xf32>, tensor<f32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
func.func private @greater(%a: tensor<f32>, %b: tensor<f32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
