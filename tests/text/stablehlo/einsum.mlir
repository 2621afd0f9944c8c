// Products and sums whose dimensions are named by letters.
// RUN: eval
func.func @main() {
  %a = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %b = stablehlo.constant dense<[[[1, 0], [2, 1], [0, 3]], [[1, 1], [0, 2], [5, 0]]]> : tensor<2x3x2xi32>
  // One batch for each row; the result's dimensions in another order.
  %0 = stablehlo.einsum %a, %b, config = "ij,ijk->ki" : (tensor<2x3xi32>, tensor<2x3x2xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %0, dense<[[5, 34], [11, 14]]> : tensor<2x2xi32>
  // A letter of one operand alone is summed over there.
  %1 = "stablehlo.einsum"(%a, %a) <{einsum_config = "ij,kl->ik"}> : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %1, dense<[[36, 90], [90, 225]]> : tensor<2x2xi32>
  // Dimensions without letters are batches.
  %2 = stablehlo.einsum %a, %b, config = "...j,...jk->...k" : (tensor<2x3xi32>, tensor<2x3x2xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %2, dense<[[5, 11], [34, 14]]> : tensor<2x2xi32>
  %3 = stablehlo.unary_einsum %b, config = "ijk->ki" : (tensor<2x3x2xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %3, dense<[[3, 6], [4, 3]]> : tensor<2x2xi32>
  return
}
