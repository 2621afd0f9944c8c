// A tolerance that is no number.
// RUN: verify
// ERROR: expected a number
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.exponential %x {result_accuracy = #stablehlo.result_accuracy<atol = {1}, rtol = 0.0, ulps = 4, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
