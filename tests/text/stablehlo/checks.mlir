// Checks say how near is near enough, after the operands, after the type or in a dictionary.
// RUN: eval
func.func @main() {
  %a = stablehlo.constant dense<[5.0, -1.0]> : tensor<2xf64>
  %b = stablehlo.constant dense<[5.1, -1.05]> : tensor<2xf64>
  check.expect_almost_eq %a, %b, tolerance = 0.2 : tensor<2xf64>
  check.expect_almost_eq_const %a, dense<[5.1, -1.05]> : tensor<2xf64>, tolerance = 2.0e-1
  check.expect_almost_eq_const %a, dense<[5.1, -1.05]> : tensor<2xf64> {tolerance = 0.2 : f64}
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %d = stablehlo.constant dense<0x3F800005> : tensor<f32>
  check.expect_close %c, %d, max_ulp_difference = 5 : tensor<f32>, tensor<f32>
  "check.expect_close"(%c, %d) <{max_ulp_difference = 6 : i64, min_ulp_difference = 5 : i64}> : (tensor<f32>, tensor<f32>) -> ()
  return
}
