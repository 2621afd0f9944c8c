// Reducers, comparators and maps that use scalars from outside.
// RUN: eval
func.func @main() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %first = stablehlo.slice %x [0:1, 1:2] : (tensor<2x3xi32>) -> tensor<1x1xi32>
  %two = stablehlo.reshape %first : (tensor<1x1xi32>) -> tensor<i32>
  %last = stablehlo.slice %x [1:2, 1:2] : (tensor<2x3xi32>) -> tensor<1x1xi32>
  %five = stablehlo.reshape %last : (tensor<1x1xi32>) -> tensor<i32>
  %0 = stablehlo.reduce(%x init: %zero) across dimensions = [1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<2xi32>
   reducer(%a: tensor<i32>, %b: tensor<i32>) {
    %1 = stablehlo.minimum %b, %five : tensor<i32>
    %2 = stablehlo.multiply %1, %two : tensor<i32>
    %3 = stablehlo.add %a, %2 : tensor<i32>
    stablehlo.return %3 : tensor<i32>
  }
  check.expect_eq_const %0, dense<[12, 28]> : tensor<2xi32>
  %4 = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 2>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.multiply %b, %two : tensor<i32>
    %2 = stablehlo.add %a, %1 : tensor<i32>
    stablehlo.return %2 : tensor<i32>
  }) : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  check.expect_eq_const %4, dense<[[2, 6, 10], [8, 18, 22]]> : tensor<2x3xi32>
  // By the distance from 5.
  %5 = "stablehlo.sort"(%x) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.subtract %a, %five : tensor<i32>
    %2 = stablehlo.abs %1 : tensor<i32>
    %3 = stablehlo.subtract %b, %five : tensor<i32>
    %6 = stablehlo.abs %3 : tensor<i32>
    %7 = stablehlo.compare LT, %2, %6 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %7 : tensor<i1>
  }) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %5, dense<[[3, 2, 1], [5, 4, 6]]> : tensor<2x3xi32>
  %8 = "stablehlo.map"(%x, %x) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.multiply %a, %two : tensor<i32>
    %2 = stablehlo.add %1, %b : tensor<i32>
    stablehlo.return %2 : tensor<i32>
  }) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %8, dense<[[3, 6, 9], [12, 15, 18]]> : tensor<2x3xi32>
  %at = stablehlo.constant dense<[[1], [1]]> : tensor<2x1xi32>
  %9 = "stablehlo.scatter"(%x, %at, %x) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.multiply %b, %two : tensor<i32>
    %2 = stablehlo.add %a, %1 : tensor<i32>
    stablehlo.return %2 : tensor<i32>
  }) : (tensor<2x3xi32>, tensor<2x1xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %9, dense<[[1, 2, 3], [14, 19, 24]]> : tensor<2x3xi32>
  // What a reducer gives back may be from outside altogether.
  %10:2 = stablehlo.reduce(%x init: %zero), (%x init: %zero) across dimensions = [0, 1] : (tensor<2x3xi32>, tensor<2x3xi32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
   reducer(%a: tensor<i32>, %b: tensor<i32>) (%c: tensor<i32>, %d: tensor<i32>) {
    %1 = stablehlo.add %c, %d : tensor<i32>
    stablehlo.return %five, %1 : tensor<i32>, tensor<i32>
  }
  check.expect_eq %10#0, %five : tensor<i32>
  check.expect_eq_const %10#1, dense<21> : tensor<i32>
  return
}
