// Operations that StableHLO has given up for others.
// RUN: eval
func.func @main() {
  %x = stablehlo.constant dense<[[[1, 2], [3, 4], [5, 6]], [[7, 8], [9, 10], [11, 12]]]> : tensor<2x3x2xi32>
  %k = stablehlo.constant dense<[[2, 0], [1, 9]]> : tensor<2x2xi32>
  // Of each batch its own slices.
  %0 = "stablehlo.torch_index_select"(%x, %k) <{batch_dims = 1 : i64, dim = 1 : i64}> : (tensor<2x3x2xi32>, tensor<2x2xi32>) -> tensor<2x2x2xi32>
  check.expect_eq_const %0, dense<[[[5, 6], [1, 2]], [[9, 10], [11, 12]]]> : tensor<2x2x2xi32>
  // The indices' dimensions stand where the chosen one stood.
  %l = stablehlo.constant dense<[[2], [0]]> : tensor<2x1xi32>
  %1 = "stablehlo.torch_index_select"(%x, %l) <{batch_dims = 0 : i64, dim = 1 : i64}> : (tensor<2x3x2xi32>, tensor<2x1xi32>) -> tensor<2x2x1x2xi32>
  check.expect_eq_const %1, dense<[[[[5, 6]], [[1, 2]]], [[[11, 12]], [[7, 8]]]]> : tensor<2x2x1x2xi32>
  %2 = "stablehlo.cross-replica-sum"(%k) <{replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<2x2xi32>) -> tensor<2x2xi32>
  check.expect_eq %2, %k : tensor<2x2xi32>
  return
}
