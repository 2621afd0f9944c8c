// Custom calls that stand for operations: those of jax.export, and approximate top-k, which is exact here.
// RUN: eval
func.func @main() {
  %x = stablehlo.constant dense<[[3.0, -1.0, 4.0, 1.0], [5.0, 9.0, -2.0, 6.0]]> : tensor<2x4xf32>
  %0:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 2 : i64, largest = true}, mhlo.version = 1 : i64} : (tensor<2x4xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
  check.expect_eq_const %0#0, dense<[[4.0, 3.0], [9.0, 6.0]]> : tensor<2x2xf32>
  check.expect_eq_const %0#1, dense<[[2, 0], [1, 3]]> : tensor<2x2xi32>
  %1 = stablehlo.custom_call @mhlo.asinh(%x) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = chlo.asinh %x : tensor<2x4xf32> -> tensor<2x4xf32>
  check.expect_eq %1, %2 : tensor<2x4xf32>
  %places = stablehlo.iota dim = 1 : tensor<2x4xi32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<-1> : tensor<i32>
  %3:2 = stablehlo.custom_call @ApproxTopK(%x, %places, %least, %none) {called_computations = [@greater], mhlo.backend_config = {aggregate_to_topk = true, is_fallback = true, recall_target = 0.9 : f32, reduction_dim = 1 : i64, reduction_input_size_override = -1 : i64, top_k = 3 : i64}} : (tensor<2x4xf32>, tensor<2x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
  check.expect_eq_const %3#0, dense<[[4.0, 3.0, 1.0], [9.0, 6.0, 5.0]]> : tensor<2x3xf32>
  check.expect_eq_const %3#1, dense<[[2, 0, 3], [1, 3, 0]]> : tensor<2x3xi32>
  return
}
func.func private @greater(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
