// chlo's functions have the values that they have elsewhere; broadcasting forms line up the last dimensions.
// RUN: eval
func.func @main() {
  %x = stablehlo.constant dense<[0.5, -0.25, 1.0]> : tensor<3xf32>
  %0 = chlo.erf_inv %x : tensor<3xf32> -> tensor<3xf32>
  check.expect_almost_eq_const %0, dense<[0.47693628, -0.22531206, 0x7F800000]> : tensor<3xf32>
  %1 = chlo.square %x : tensor<3xf32> -> tensor<3xf32>
  check.expect_eq_const %1, dense<[0.25, 0.0625, 1.0]> : tensor<3xf32>
  %y = stablehlo.constant dense<[0.5, 4.0, -1.5]> : tensor<3xf64>
  %2 = chlo.lgamma %y : tensor<3xf64> -> tensor<3xf64>
  check.expect_almost_eq_const %2, dense<[0.57236494292470008, 1.7917594692280550, 0.86004701537648098]> : tensor<3xf64>
  %3 = chlo.digamma %y : tensor<3xf64> -> tensor<3xf64>
  check.expect_almost_eq_const %3, dense<[-1.9635100260214235, 1.2561176684318005, 0.70315664064524324]> : tensor<3xf64>
  %4 = chlo.erfc %y : tensor<3xf64> -> tensor<3xf64>
  check.expect_almost_eq_const %4, dense<[0.47950012218695348, 1.5417257900280020e-08, 1.9661051464753108]> : tensor<3xf64>
  %s = stablehlo.constant dense<[2.0, 4.0]> : tensor<2xf64>
  %q = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf64>
  %5 = chlo.zeta %s, %q : tensor<2xf64>, tensor<2xf64> -> tensor<2xf64>
  check.expect_almost_eq_const %5, dense<[1.6449340668482264, 0.082323233711138186]> : tensor<2xf64>
  %n = stablehlo.constant dense<[1.0, 0.0]> : tensor<2xf64>
  %6 = chlo.polygamma %n, %q : tensor<2xf64>, tensor<2xf64> -> tensor<2xf64>
  check.expect_almost_eq_const %6, dense<[1.6449340668482264, 0.42278433509846714]> : tensor<2xf64>
  %7 = chlo.bessel_i1e %y : tensor<3xf64> -> tensor<3xf64>
  check.expect_almost_eq_const %7, dense<[0.15642080318487166, 0.17875084116297410, -0.21903938700843494]> : tensor<3xf64>
  %8 = chlo.next_after %s, %q : tensor<2xf64>, tensor<2xf64> -> tensor<2xf64>
  check.expect_eq_const %8, dense<[1.9999999999999998, 3.9999999999999996]> : tensor<2xf64>
  %m = stablehlo.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %9 = chlo.broadcast_add %m, %x : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  check.expect_eq_const %9, dense<[[1.5, 0.75, 2.0], [2.5, 1.75, 3.0]]> : tensor<2x3xf32>
  %10 = "chlo.constant_like"(%x) <{value = 2.5 : f32}> : (tensor<3xf32>) -> tensor<3xf32>
  check.expect_eq_const %10, dense<2.5> : tensor<3xf32>
  %11 = chlo.is_inf %0 : tensor<3xf32> -> tensor<3xi1>
  check.expect_eq_const %11, dense<[false, false, true]> : tensor<3xi1>
  %values, %indices = chlo.top_k(%x, k = 2) : tensor<3xf32> -> (tensor<2xf32>, tensor<2xi32>)
  check.expect_eq_const %values, dense<[1.0, 0.5]> : tensor<2xf32>
  check.expect_eq_const %indices, dense<[2, 0]> : tensor<2xi32>
  return
}
