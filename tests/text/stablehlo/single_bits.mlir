// Predicates as the bits of numbers, the lowest first.
// RUN: eval
func.func @main() {
  %x = stablehlo.constant dense<[5, -128]> : tensor<2xi8>
  %0 = stablehlo.bitcast_convert %x : (tensor<2xi8>) -> tensor<2x8xi1>
  check.expect_eq_const %0, dense<[[true, false, true, false, false, false, false, false], [false, false, false, false, false, false, false, true]]> : tensor<2x8xi1>
  %1 = stablehlo.bitcast_convert %0 : (tensor<2x8xi1>) -> tensor<2xi8>
  check.expect_eq %1, %x : tensor<2xi8>
  %y = stablehlo.constant dense<-1.5> : tensor<f16>
  %2 = stablehlo.bitcast_convert %y : (tensor<f16>) -> tensor<16xi1>
  check.expect_eq_const %2, dense<[false, false, false, false, false, false, false, false, false, true, true, true, true, true, false, true]> : tensor<16xi1>
  %3 = stablehlo.bitcast_convert %2 : (tensor<16xi1>) -> tensor<f16>
  check.expect_eq %3, %y : tensor<f16>
  %4 = stablehlo.bitcast_convert %2 : (tensor<16xi1>) -> tensor<16xi1>
  check.expect_eq %4, %2 : tensor<16xi1>
  %z = stablehlo.constant dense<[-8, 5]> : tensor<2xi4>
  %5 = stablehlo.bitcast_convert %z : (tensor<2xi4>) -> tensor<2x4xi1>
  check.expect_eq_const %5, dense<[[false, false, false, true], [true, false, true, false]]> : tensor<2x4xi1>
  return
}
