// Rolls and halos by EnzymeXLA's names.
// RUN: eval
func.func @main() {
  %x = stablehlo.constant dense<[[0, 1, 2, 3, 4], [10, 11, 12, 13, 14]]> : tensor<2x5xi32>
  %0 = "enzymexla.rotate"(%x) <{amount = 2 : si32, dimension = 1 : si32}> : (tensor<2x5xi32>) -> tensor<2x5xi32>
  check.expect_eq_const %0, dense<[[2, 3, 4, 0, 1], [12, 13, 14, 10, 11]]> : tensor<2x5xi32>
  %1 = "enzymexla.rotate"(%x) <{amount = -1 : i32, dimension = 1 : i32}> : (tensor<2x5xi32>) -> tensor<2x5xi32>
  check.expect_eq_const %1, dense<[[4, 0, 1, 2, 3], [14, 10, 11, 12, 13]]> : tensor<2x5xi32>
  %2 = "enzymexla.wrap"(%x) <{dimension = 1 : i64, lhs = 2 : i64, rhs = 1 : i64}> : (tensor<2x5xi32>) -> tensor<2x8xi32>
  check.expect_eq_const %2, dense<[[3, 4, 0, 1, 2, 3, 4, 0], [13, 14, 10, 11, 12, 13, 14, 10]]> : tensor<2x8xi32>
  %3 = "enzymexla.extend"(%x) <{dimension = 1 : i64, lhs = 1 : i64, rhs = 2 : i64}> : (tensor<2x5xi32>) -> tensor<2x8xi32>
  check.expect_eq_const %3, dense<[[0, 0, 1, 2, 3, 4, 3, 4], [10, 10, 11, 12, 13, 14, 13, 14]]> : tensor<2x8xi32>
  %4:3 = "enzymexla.multi_rotate"(%x) <{dimension = 0 : i32, left_amount = 1 : i32, right_amount = 1 : i32}> : (tensor<2x5xi32>) -> (tensor<2x5xi32>, tensor<2x5xi32>, tensor<2x5xi32>)
  check.expect_eq_const %4#0, dense<[[10, 11, 12, 13, 14], [0, 1, 2, 3, 4]]> : tensor<2x5xi32>
  check.expect_eq %4#1, %x : tensor<2x5xi32>
  check.expect_eq %4#2, %4#0 : tensor<2x5xi32>
  %5:2 = "enzymexla.multi_slice"(%x) <{amount = 1 : i32, dimension = 1 : i32, limit_indices = array<i64: 2, 4>, start_indices = array<i64: 0, 1>, strides = array<i64: 1, 2>}> : (tensor<2x5xi32>) -> (tensor<2x2xi32>, tensor<2x2xi32>)
  check.expect_eq_const %5#0, dense<[[1, 3], [11, 13]]> : tensor<2x2xi32>
  check.expect_eq_const %5#1, dense<[[2, 4], [12, 14]]> : tensor<2x2xi32>
  %6:2 = "enzymexla.multi_slice"(%x) <{dimension = 1 : si32, left_amount = 1 : si32, limit_indices = array<i64: 1, 3>, right_amount = 0 : si32, start_indices = array<i64: 0, 2>, strides = array<i64: 1, 1>}> : (tensor<2x5xi32>) -> (tensor<1x1xi32>, tensor<1x1xi32>)
  check.expect_eq_const %6#0, dense<1> : tensor<1x1xi32>
  check.expect_eq_const %6#1, dense<2> : tensor<1x1xi32>
  %y = stablehlo.constant dense<9> : tensor<2x5xi32>
  %7 = "enzymexla.update_without_corners"(%x, %y) <{dimensionX = 0 : i64, dimensionY = 1 : i64, x1 = 1 : i64, x2 = 0 : i64, y1 = 1 : i64, y2 = 2 : i64}> : (tensor<2x5xi32>, tensor<2x5xi32>) -> tensor<2x5xi32>
  check.expect_eq_const %7, dense<[[0, 9, 9, 3, 4], [9, 9, 9, 9, 9]]> : tensor<2x5xi32>
  return
}
