// Two numbers are nearer than the check wants them.
// RUN: eval
// ERROR: check.expect_close: 1 of 1 elements differ, first {}: got 1, expected 1.0000006
func.func @main() {
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %d = stablehlo.constant dense<0x3F800005> : tensor<f32>
  check.expect_close %c, %d, min_ulp_difference = 6, max_ulp_difference = 9 : tensor<f32>, tensor<f32>
  return
}
