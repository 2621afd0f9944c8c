// Operations that take attributes as operands, with static results and constants.
// RUN: eval
func.func @main() {
  %x = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %shape = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %shape, dims = [1] : (tensor<3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  check.expect_eq_const %0, dense<[[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]> : tensor<2x3xf32>
  %one = stablehlo.constant dense<1> : tensor<1xi64>
  %three = stablehlo.constant dense<3> : tensor<1xi64>
  %1 = stablehlo.real_dynamic_slice %x, %one, %three, %one : (tensor<3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xf32>
  check.expect_eq_const %1, dense<[2.0, 3.0]> : tensor<2xf32>
  %none = stablehlo.constant dense<0> : tensor<1xi64>
  %2 = stablehlo.dynamic_pad %x, %zero, %one, %none, %none : (tensor<3xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4xf32>
  check.expect_eq_const %2, dense<[0.0, 1.0, 2.0, 3.0]> : tensor<4xf32>
  %3 = stablehlo.dynamic_iota %three, dim = 0 : (tensor<1xi64>) -> tensor<3xi32>
  check.expect_eq_const %3, dense<[0, 1, 2]> : tensor<3xi32>
  return
}
