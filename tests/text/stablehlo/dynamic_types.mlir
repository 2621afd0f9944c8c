// Types with extents that only the operands know, where those are constants or extents of arrays.
// RUN: eval
func.func @main() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %shape = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %0 = stablehlo.dynamic_iota %shape, dim = 1 : (tensor<2xi64>) -> tensor<?x?xi32>
  %1 = stablehlo.add %0, %0 : tensor<?x?xi32>
  check.expect_eq_const %1, dense<[[0, 2, 4], [0, 2, 4]]> : tensor<2x3xi32>
  // The number of elements, as a shape.
  %rows = stablehlo.get_dimension_size %x, dim = 0 : (tensor<2x3xi32>) -> tensor<i32>
  %columns = stablehlo.get_dimension_size %x, dim = 1 : (tensor<2x3xi32>) -> tensor<i32>
  %count = stablehlo.multiply %rows, %columns : tensor<i32>
  %flat = stablehlo.reshape %count : (tensor<i32>) -> tensor<1xi32>
  %2 = stablehlo.dynamic_reshape %x, %flat : (tensor<2x3xi32>, tensor<1xi32>) -> tensor<?xi32>
  %3 = stablehlo.reverse %2, dims = [0] : tensor<?xi32>
  check.expect_eq_const %3, dense<[6, 5, 4, 3, 2, 1]> : tensor<6xi32>
  %first = stablehlo.constant dense<[0, 1]> : tensor<2xi64>
  %limit = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %stride = stablehlo.constant dense<1> : tensor<2xi64>
  %4 = stablehlo.real_dynamic_slice %x, %first, %limit, %stride : (tensor<2x3xi32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xi32>
  check.expect_eq_const %4, dense<[[2, 3], [5, 6]]> : tensor<2x2xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0> : tensor<2xi64>
  %6 = stablehlo.dynamic_pad %4, %zero, %first, %none, %none : (tensor<?x?xi32>, tensor<i32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xi32>
  check.expect_eq_const %6, dense<[[0, 2, 3], [0, 5, 6]]> : tensor<2x3xi32>
  %7 = chlo.broadcast_add %4, %zero : (tensor<?x?xi32>, tensor<i32>) -> tensor<?x?xi32>
  check.expect_eq %7, %4 : tensor<?x?xi32>
  return
}
